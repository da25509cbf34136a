"""Makes `python -m monitor` the same as the `variant-monitor` command."""

from monitor import cli

if __name__ == "__main__":
    cli.main()
