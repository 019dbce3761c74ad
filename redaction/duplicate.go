package redaction

// Duplicates says what happens to an object that has one name twice: readers disagree about which of the two counts.
type Duplicates string

// The ways to deal with duplicate names. An empty one means [WithholdAll].
const (
	WithholdAll Duplicates = "withhold" // the payload is withheld
	ScrubAll    Duplicates = "scrub"    // every copy is redacted and stays
)

// AllDuplicates returns every way.
func AllDuplicates() []Duplicates { return []Duplicates{WithholdAll, ScrubAll} }
