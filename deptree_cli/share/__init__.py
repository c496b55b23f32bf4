"""What a system keeps beside a program: the man page and the completion of three shells, made from the command line.

``python -m deptree_cli.share`` writes the files of this folder anew; `program` reads the command line, and the others
(`manual`, `bash`, `zsh`, `fish`) are a file each of what they write.
"""
