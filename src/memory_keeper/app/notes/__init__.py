"""Notes as the user makes them: what was said in prompts, and rules, which are added, worded anew, taken away."""
