"""``python -m deptree_cli``."""

from deptree_cli.cli.app import main

if __name__ == "__main__":
    main()
