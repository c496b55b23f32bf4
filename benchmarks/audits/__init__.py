"""What audits find, and how often they err."""
