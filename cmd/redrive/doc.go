// Command redrive is the one binary: workers, admin API, operators' commands and a stack to develop against.
//
// It wires and decides nothing: flags and environment are read here, become options, and the libraries do the work. So a
// service that outgrows the binary calls the same libraries and loses nothing.
//
// Exit codes are for scripts: 0 done, 1 failed, 2 wrong usage (nothing was done), 3 refused (a conflict or an operator's
// request that was decided against; the code and a sentence say why).
//
// The Temporal connection comes from Temporal's own environment configuration (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
// profiles, TLS), the rest from redrive.yaml and REDRIVE_*. `redrive dev` never looks at TEMPORAL_ADDRESS: whoever has
// production in the environment must be able to try things out.
package main
