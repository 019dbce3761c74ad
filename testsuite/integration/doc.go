// Package integration proves redrive's promises against a real Temporal, a real SQLite and a real Postgres.
//
// One server serves the whole package; every test has a namespace, a store and workers of its own, so that tests run
// side by side. Faults are real: a stopped database cluster, a terminated workflow, a killed process.
package integration
