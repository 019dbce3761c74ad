package archtest

import (
	"fmt"
	"slices"
)

// checkImports returns every breach of the table, one sentence each.
func checkImports(packages []pkg) []string {
	var breaches []string
	for _, p := range packages {
		breaches = append(breaches, p.check()...)
	}
	return breaches
}

func (p pkg) check() []string {
	var breaches []string
	say := func(format string, args ...any) {
		breaches = append(breaches, p.ImportPath+": "+fmt.Sprintf(format, args...))
	}
	if p.Error != nil {
		say("does not load: %s", p.Error.Err)
	}
	if slices.Contains(emptyNames, p.Name) {
		say("a package named %s says nothing; name what it is about", p.Name)
	}
	own, _ := p.unit(p.ImportPath)
	r, known := rules[own]
	if !known {
		say("no rule for %q: add one to internal/archtest/rules.go, with its reason", own)
		return breaches
	}
	for _, path := range p.Imports {
		if reason := p.refuses(own, r, path); reason != "" {
			say("imports %s: %s", path, reason)
		}
	}
	for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
		if unit, inside := p.unit(path); inside && unit == "cmd" && own != "cmd" {
			say("a test imports %s: nothing depends on the program", path)
		}
	}
	return breaches
}

// refuses returns why a package of unit own may not import path, or nothing.
func (p pkg) refuses(own string, r rule, path string) string {
	if unit, inside := p.unit(path); inside {
		switch {
		case unit == own:
			return ""
		case slices.Contains(testTools, unit):
			return "test tools do not ship"
		case !r.any && !slices.Contains(r.may, unit):
			return fmt.Sprintf("%s may import %v: %s", own, r.may, r.why)
		}
		return ""
	}
	switch {
	case below(path, r.banned) || slices.Contains(r.exact, path):
		return r.why
	case below(path, drivers) && !slices.Contains(wiring, own):
		return "database drivers are imported in cmd, testsuite and tests only"
	case below(path, flagPackages) && !slices.Contains(wiring, own):
		return "flags are read in cmd only"
	}
	return ""
}
