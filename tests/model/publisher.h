/* SPDX-License-Identifier: MIT
 * The publisher of replicate.pml and the script that it publishes by: P7. */
#ifdef EPOCH_IGNORED
#define EPOCH_IS(e) true
#elif defined(EPOCH_OUTSIDE)
#define EPOCH_IS(e) true
#else
#define EPOCH_IS(e) ((e) == epoch)
#endif
#ifdef BASE_IGNORED
#define BASE_IS(base) true
#else
#define BASE_IS(base) ((base) == redis.generation)
#endif

/* P7: the script */
inline publish(position_, of_, numbers_, base_, copy_)
{
	if
	:: EPOCH_IS(of_) && BASE_IS(base_) ->
		redis.before = redis.position; redis.before_of = redis.made_in;
#ifdef POSITION_LATE
		redis.position = redis.added;
#else
		redis.position = position_;
#endif
		redis.made_in = epoch; redis.numbers = numbers_; redis.image = copy_;
		redis.generation++;
#ifdef TRIM_NEWEST
		if
		:: redis.first < redis.position -> redis.first = redis.position
#else
		if
		:: redis.first < redis.before -> redis.first = redis.before
#endif
		:: else
		fi
	:: else
	fi
}

#ifdef PUBLISH_LACKING
#define WHOLE true
#else
#define WHOLE (!self.lacks && !self.joins)
#endif
#ifdef NO_WAIT
#define SAFE true
#else
#define SAFE IS_SAFE(saved.generation == redis.generation)
#endif
#ifdef EPOCH_OUTSIDE
#define COPIED 3
#else
#define COPIED 4
#endif
#define n 0
proctype publisher()
{
end:	do
	:: d_step { stage == 0 && WHOLE && SAFE && SAME_EPOCH && redis.generation < GENERATIONS &&
		(self.cursor > redis.position || redis.made_in != epoch) ->
		taken = self.cursor; taken_of = self.epoch; taken_numbers = self.numbers;
		base = redis.generation; stage = 1 }
	:: d_step { stage == 1 -> copy = SET(n) & 1; stage = 2 }
	:: d_step { stage == 2 -> copy = copy | (SET(n) & 6); stage = COPIED }
#ifdef EPOCH_OUTSIDE
	:: d_step { stage == 3 -> stage = (taken_of == epoch -> 4 : 0) }
#endif
	:: d_step { stage == 4 -> publish(taken, taken_of, taken_numbers, base, copy);
		if
		:: redis.generation == base + 1 -> self.generation = redis.generation
		:: else
		fi;
		stage = 0; copy = 0; taken = 0; taken_of = 0; taken_numbers = 0; base = 0 }
#ifdef LATE
	:: d_step { stage == 4 && !was_late ->
		late = 1; was_late = 1;
		late_taken = taken; late_of = taken_of; late_numbers = taken_numbers;
		late_base = base; late_copy = copy;
		stage = 0; copy = 0; taken = 0; taken_of = 0; taken_numbers = 0; base = 0 }
	:: d_step { late -> publish(late_taken, late_of, late_numbers, late_base, late_copy);
		late = 0; late_taken = 0; late_of = 0; late_numbers = 0;
		late_base = 0; late_copy = 0 }
#endif
	od
}
#undef n
