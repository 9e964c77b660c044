"""The figures of results: `figure_files` draws those of a folder."""
