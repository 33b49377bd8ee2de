/* SPDX-License-Identifier: MIT
 * One set on many machines: the rules by which no insert is lost. The parts in this folder keep
 * them one each, know nothing of sockets, and are tested alone; what they are told comes from the
 * server's answers. H1 to H5 (generation.h of the library) hold on every node beside these.
 *
 * A set has a stream of batches, a manifest that names an image and the position in the stream up
 * to which the image has everything, and nodes. Each node has a cursor, the position up to which it
 * has applied the stream to its own handle. What redis promises of a key that was written, and no
 * more, is promised of a batch.
 *
 * L1  Epoch. Ids of the stream, and what is counted in it, mean something within one history of the
 *     server: its master_replid, which is new at each restart and promotion, and a number that is
 *     drawn when a set's keys are first made there, or made again after a FLUSHALL. A script that
 *     appends, reads or publishes compares it with the node's before it does anything: outside of
 *     the script the server may change in between.
 * L2  Pending first. An insert puts its hash into the pending batch, then into the handle. So when
 *     weir_reload_begin() has returned, whatever is in the old filter alone is pending or
 *     retained, and the loader takes it from there into the next one. In the other order an insert
 *     between the two steps would be in neither.
 * L3  Retain. A batch is kept, confirmed or not, until a generation before the newest, of the same
 *     epoch, covers its id, and the replicas were known to have that generation before the next one
 *     was published. The newest manifest may be lost with the server that had it, and the stream's
 *     end with it; so may the one before, if nobody waited for it. A manifest also says up to which
 *     batch of this node it has all: what it lacks of those before its position is sent again, as
 *     of a node that was taken for gone (L8). In a new epoch all ids are void and everything that
 *     is retained is sent again, in its order (retain.h). The same holds when entries have gone
 *     (L7): if the stream was deleted, its ids may come again.
 * L4  One batch under way. Batch n + 1 is sent when n is confirmed. So the sequence numbers of an
 *     origin have no holes in the stream, but for lost entries: whoever sees a hole knows
 *     (origins.h).
 * L5  Apply, then advance. A reader inserts all of a batch before its cursor passes it, its own
 *     batches too: the application may stand between the two steps of L2. So what the cursor has
 *     passed is in the set, and a copy of the set made afterwards has it.
 * L6  Position. A manifest's position is the cursor that its publisher had before the first shard
 *     was copied, never the stream's end when it is published. With it go how many entries had ever
 *     been added there (L7) and each origin's last sequence (L8).
 *     A publisher whose image comes from the application's record instead reads the stream to its
 *     end before it reads the record, and takes that position: right only where applications write
 *     their record before they insert, and the record that is read has all that was written.
 * L7  Trimmed entries are counted. Reading past a trim is silent. A reader counts what it has
 *     consumed, from the manifest's number on; the server says how many were ever added, and how
 *     many are there: the difference has gone. If more have gone than were consumed, some were
 *     missed (cursor.h). Both are read in the script that reads the entries. So is the last id
 *     that was given: if it is below the cursor, somebody has set ids back, and those that come
 *     would never be read. If it is below the position of what is published, they were set back
 *     meanwhile: nothing is trimmed, since what came since is not in the image.
 * L8  A hole in an origin's sequence, which L7 does not see where an entry was deleted in between,
 *     leaves a node incomplete until the origin has sent again or a manifest that covers it was
 *     joined. Lower numbers are no hole: they are applied again, since inserts are idempotent.
 *     A gap that nobody's image covers ends when every node that lives has spoken since: what it
 *     says of its last number shows what is lacking of it, and it sends that again. Nobody
 *     waits for what is lacking of a node that has gone; but others who live may have it, so what
 *     is published then begins a lineage (L12). A node that is asked for what it retains no more,
 *     or never sent, or in whose name somebody else sends, takes another name: the old one has
 *     gone. Whoever begins a set whose keys have gone waits likewise, and no longer.
 * L9  Who is incomplete, by L7 or L8, publishes no image of its own set.
 * L10 Publishing compares the owner of the lease, the epoch and the base generation, replaces the
 *     manifest, and trims the stream up to what L3 lets nodes forget, in one script. So whoever
 *     joins by the manifest, or after a failover by the one before, finds the entries that follow.
 *     The base is the generation that the publisher has joined: another it has not in its set. A
 *     lease is of an epoch: a new one needs a generation, and its owner may have died in the old.
 * L11 Joining. The image becomes the next filter beside the current one (H2); then everything from
 *     the manifest's position to the node's cursor, and what is pending, and what is retained and
 *     no origin line names, goes into it; then it is published. A swap without these would forget
 *     what the image lacks. If entries that follow the image have gone, the node's own set is
 *     copied into it too. An image that has nothing but what the generation before it and the
 *     stream up to its position have is not fetched by a node that has those: that has joined the
 *     one before, in this epoch or before it, and then read all that its origin lines name. So a
 *     publisher sends what is pending first: if it cannot, its image has more. In a new epoch the
 *     set is joined anew first, since what the old one's stream had may be in no image and in no
 *     other node's set.
 * L12 Lineage. A manifest that does not descend from the one that a node has joined is of a server
 *     whose keys were deleted, and of a publisher that may never have had what was in them; one
 *     that is older is what a failover left, or what somebody put back. The node's own set is
 *     copied into the next filter too: nothing is forgotten, and what was removed stays until the
 *     next image from a record. What was copied is in no image: such a node, if it publishes at
 *     all, takes the lease and does so at once, and copies it again when it joins another's set
 *     before that, or anything of before in a new epoch, which may have lost what it had published.
 *     If nobody publishes, it says so. Since then what followed a generation may be in no stream,
 *     so to return to one takes nothing away either, until a record comes.
 * L13 Another seed. Hashes mean something by one seed alone: where batches carry them, all filters
 *     have that seed. Where batches carry keys, a generation may be of another: then a key is
 *     hashed for each filter that it goes to, and a node's own set cannot be copied into the next
 *     filter (L11, L12). So a generation by another seed is joined only where all that follows it
 *     is in the stream, and it descends from what the node has, or was made from the record in
 *     this epoch and since that was published; else the node keeps its own set, and waits for the
 *     next. One that the node's set has replaced, and a failover or somebody brought back, is not
 *     joined, nor is what others publish of its seed: the set stands in its place, and the next is
 *     published on top of it.
 *
 * Spin (tests/model/replicate.pml) shows that rules like these suffice, on two nodes and a server;
 * tests/replica runs the code itself, and shows for each rule that it is needed.
 */
