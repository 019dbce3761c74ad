// Package archtest holds the tests that keep the tree's shape: who may import whom, where drivers, flags and environment
// variables may appear, how long a file may be, and that nothing names the machine it was written on.
//
// The rules are the table in rules.go, each with its reason; a package the table does not know fails, so that whoever adds
// one decides what it may depend on. Imports are checked one module package at a time: the SDK's own imports are its own
// business, and a forbidden import anywhere below a package in this module is found at the package that has it.
package archtest
