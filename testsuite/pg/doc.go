// Package pg gives tests a PostgreSQL of their own: a private cluster made from the installed server programs, in a
// temporary directory, on a loopback port, with durability off because nothing in it outlives the run.
//
// It exists because a promise about SQL is tested on the real thing, and because a test must be able to take the database
// away and give it back (Pause, Resume) without disturbing anybody.
//
// What it promises:
//
//   - The cluster dies with the process that started it, SIGKILL included: a watchdog holds the reading end of a pipe, and
//     the kernel closes the writing end. The data directory goes with it (not that of a cluster killed while paused).
//   - PostgreSQL refuses to run as root, so as root the cluster runs as the account postgres, or else nobody.
//   - A test that asks for a database (ForTest, CreateDatabase) gets an empty one that no other test sees.
//   - No file outside the temporary directory is read or written, and no installed cluster is touched.
//
// `make test` runs one cluster for all test processes (package run below this one) and tells them its address in
// REDRIVE_TEST_POSTGRES. Without it, ForTest starts one cluster per test process.
package pg
