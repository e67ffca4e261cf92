"""Memory Keeper: what happened in your coding sessions, kept, distilled and told again within a budget."""

__version__ = "0.1.0"
