"""What a trigger asks for: tell a brief, save the handoff, warn, bring back what was lost, ask for a clear."""
