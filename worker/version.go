package worker

import (
	"os"
	"runtime/debug"
	"strconv"
)

// Unversioned is what a build without version information calls itself.
const Unversioned = "unversioned"

// BuildVersion returns the version of the running build: the module's version, else the VCS revision (12 digits, with
// "+dirty" for a modified tree), else Unversioned.
func BuildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Unversioned
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	switch {
	case revision == "":
		return Unversioned
	case settings["vcs.modified"] == "true":
		return revision[:min(len(revision), 12)] + "+dirty"
	default:
		return revision[:min(len(revision), 12)]
	}
}

// processName is how this process appears in the attempt log and as Temporal's identity: host and process id.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return strconv.Itoa(os.Getpid()) + "@" + host
}
