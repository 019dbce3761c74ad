package archtest

// rule says what a unit of the layout may import. A unit is a top-level directory with everything below it, except that
// every internal/<name> is one of its own. Imports within a unit are always allowed; tests may import any unit but cmd.
type rule struct {
	may    []string // units; nil means none
	any    bool     // every unit
	banned []string // import paths outside the module, each with what is below it
	exact  []string // banned, but not what is below it
	why    string
}

const (
	temporal = "go.temporal.io"
	sql      = "database/sql"
	http     = "net/http"
)

var rules = map[string]rule{
	"cmd":   {any: true, why: "the one place where everything is wired"},
	"admin": {may: []string{"replay", "starter", "vault", "redaction", "job"}, why: "the API asks libraries; it runs no workflow and no handler"},
	"handlers": {
		may: []string{"job"}, banned: []string{temporal, sql},
		why: "a shipped handler is written like a user's: it knows the job and nothing of what runs it",
	},
	"vault":      {may: []string{"job"}, banned: []string{sql}, why: "keys and codecs; rows are kept by store through an interface"},
	"testsuite":  {may: []string{"worker", "activities", "workflows", "job"}, why: "what users' tests import must not pull in a store or a console"},
	"worker":     {may: []string{"workflows", "activities", "job", "internal/wire"}, why: "the only place where workflows and activities meet"},
	"replay":     {may: []string{"job", "internal/wire", "internal/history"}, why: "asks through Temporal's client and a store interface"},
	"starter":    {may: []string{"job", "internal/wire", "internal/history"}, why: "producers link it: it stays small"},
	"store":      {may: []string{"job"}, banned: []string{temporal, http}, why: "a projection over SQL, independent of what drives it"},
	"activities": {may: []string{"job", "redaction", "internal/wire", "internal/history"}, banned: []string{sql, http}, why: "stores and handlers come in through interfaces"},
	"workflows": {
		may:    []string{"job", "internal/wire"},
		banned: []string{sql, http, "go.temporal.io/sdk/client", "go.temporal.io/sdk/worker", "go.temporal.io/sdk/activity"},
		exact:  []string{"net", "os"},
		why:    "deterministic: nothing in reach that could do I/O",
	},
	"job":       {may: []string{"redaction"}, banned: []string{temporal, sql, http}, why: "the nouns: every package may depend on them, so they depend on nothing"},
	"redaction": {banned: []string{temporal, sql, http}, why: "a leaf, to be used and audited on its own"},
	"config":    {may: []string{"job", "redaction"}, why: "settings become the nouns' types; wiring them is cmd's"},
	"telemetry": {may: []string{"job"}, why: "metrics and logs must be importable from anywhere without a cycle"},
	"deploy":    {why: "files for operators, and the tests that read them"},

	"internal/wire":     {may: []string{"job"}, why: "the one codec between job.Failure and Temporal's ApplicationError"},
	"internal/history":  {may: []string{"job"}, why: "reads a run's own start event for starter and activities"},
	"internal/archtest": {why: "test tool"},
	"internal/testline": {why: "test tool"},
}

// testTools may not be imported by anything that ships.
var testTools = []string{"internal/archtest", "internal/testline"}

// drivers are imported in cmd, testsuite and tests only: a library must not choose its user's database driver.
var drivers = []string{"github.com/jackc/pgx", "modernc.org/sqlite", "github.com/lib/pq", "github.com/mattn/go-sqlite3"}

// flagPackages, like environment variables, belong to the program, which turns them into options: cmd, testsuite, tests.
var flagPackages = []string{"flag", "github.com/spf13/pflag", "github.com/spf13/cobra"}

// environmentFunctions read the environment, by import path and name.
var environmentFunctions = map[string][]string{
	"os":      {"Getenv", "LookupEnv", "Environ", "ExpandEnv"},
	"syscall": {"Getenv", "Environ"},
}

// wiring are the units that may use drivers, flags and environment; the test tools are programs of their own.
var wiring = []string{"cmd", "testsuite", "internal/archtest", "internal/testline"}

// emptyNames say nothing about what a package is for.
var emptyNames = []string{"util", "utils", "common", "helper", "helpers", "types", "models"}
