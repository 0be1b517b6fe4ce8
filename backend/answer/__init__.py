"""From evidence to sentences that can be spoken: prompt, model, gates, cut, speech, and the cache of answers."""
