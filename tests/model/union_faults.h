/* SPDX-License-Identifier: MIT
 * The faults of union.pml: the number of faults of each sort that may happen. */
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef FLUSHES
#define FLUSHES 0
#endif
#ifndef DROPS
#define DROPS 0
#endif
#ifndef DELETES
#define DELETES 0
#endif
#ifndef RESTORES
#define RESTORES 0
#endif
#ifndef IMAGES
#define IMAGES 0
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef RECORDS
#define RECORDS 0
#endif
#ifndef GIVEUPS
#define GIVEUPS 0
#endif
byte crashes = CRASHES, flushes = FLUSHES, drops = DROPS, deletes = DELETES;
byte restores = RESTORES, images = IMAGES, deaths = DEATHS, records = RECORDS, giveups = GIVEUPS;
