package redaction

// members are the places of one object's members, for the operator that leaves nothing in a member's place.
type members struct {
	places []memberPlace
	any    bool
}

type memberPlace struct {
	start, end int
	edit       int // of a dropped one; -1 of the others
}

// add notes the member that was just read.
func (m *members) add(d *document, start, end int) {
	place := memberPlace{start: start, end: end, edit: -1}
	if last := len(d.edits) - 1; last >= 0 && d.edits[last].dropped && d.edits[last].end == end && d.edits[last].start > start {
		place.edit, m.any = last, true
	}
	m.places = append(m.places, place)
}

// cut widens the first edit of each run of dropped members over names and commas, and empties the others.
func (m *members) cut(d *document) {
	if !m.any {
		return
	}
	for i := 0; i < len(m.places); i++ {
		if m.places[i].edit < 0 {
			continue
		}
		last := i
		for last+1 < len(m.places) && m.places[last+1].edit >= 0 {
			last++
		}
		from, to := m.places[i].start, m.places[last].end
		switch {
		case i > 0:
			from = m.places[i-1].end
		case last+1 < len(m.places):
			to = m.places[last+1].start
		}
		for at := i; at <= last; at++ {
			e := &d.edits[m.places[at].edit]
			e.start, e.end = to, to
		}
		d.edits[m.places[i].edit].start = from
		i = last
	}
}
