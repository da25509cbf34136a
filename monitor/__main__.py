"""Makes `python -m monitor` the same as the `variant-monitor` command."""

from monitor.cli import main

if __name__ == "__main__":
    main()
