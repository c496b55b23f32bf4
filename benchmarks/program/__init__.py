"""The commands as a user runs them, and what they spend most of their time on."""
