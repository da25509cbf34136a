"""Bus, submission and archive on Apache Kafka, for any number of replicas.

Threads of one bus:

- the event loop's, in which the daemon calls the ports;
- one that owns the consumer and polls it (`membership`), with the client's own thread below it;
- one for each assigned partition (`ownership`), which takes the partition over, then writes what
  was committed, one transaction after another; each transaction runs in a further thread of its
  own, because some of the client's calls never return once their broker has gone (`clients`).

States of a partition: *restoring* (fence the former owner, read the journal to its end), *held*
(commits are written while the lease holds), *unsettled* (the outcome of a transaction is unknown:
wait for the group's word that the partition is still ours, then take it over anew and look),
*lost* for good; when the group assigns it once more, that is another ownership.

What makes a result appear once is the transaction; what keeps a former owner from writing is the
fencing by its successor's `init_transactions`; what keeps it from asking is the lease.
"""
