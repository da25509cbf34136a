"""Each port on a real thing: brokers, endpoints, stores, clocks; home of every client library."""
