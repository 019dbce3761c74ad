// Package config turns redrive.yaml and REDRIVE_* variables into typed settings that are known to be consistent.
//
// A worker that starts with a misread number leases, retries and dead-letters wrongly for as long as nobody looks. So
// the file is read strictly: an unknown key, a value of the wrong kind, a zero that would silently mean "default" and
// numbers that contradict each other are refused, each with its line and the reason, all of them at once. A variable
// replaces the file's value and is then named in the complaint instead of a line.
//
// Settings of a job type that are left out come from policies.default, and what is left out there from the defaults
// that redrive.example.yaml states. A list that is given replaces the default's list.
//
// No value of a text setting is ever quoted in an error: an address may hold a password. The package reads files, but
// no environment; the program hands it a lookup function.
package config
