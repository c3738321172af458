package planner

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// This file tells what became of a character by what the journal says of it.

// charState is what the journal tells of a character.
type charState struct {
	added   atomState // nothing if it was there from the start
	deleted []deletion
	dead    bool // a person typed it in the place of a suggestion that waits again
	undo    bool // an undo took it away or left it there, not people
}

type deletion struct {
	by    uint64 // number of the record that decided on it
	state atomState
}

type atomState uint8

const (
	none atomState = iota
	isPending
	isAccepted
	isRejected
)

// shown says whether the original and the accepted view have the character.
func (s charState) shown() (o, a bool) {
	o, a = s.added == none || s.added == isAccepted, s.added != isRejected
	for _, d := range s.deleted {
		o, a = o && d.state != isAccepted, a && d.state == isRejected
	}
	return o && !s.dead, a && !s.dead
}

// decided is the state after a decision, of which seq is the number. That the character
// was seen then outweighs what was known: people take marks off by hand.
func (s charState) decided(role model.Role, seq uint64) charState {
	kept := slices.Clone(s.deleted)
	switch role {
	case model.AcceptedAddition, model.RejectedAddition:
		kept = slices.DeleteFunc(kept, func(d deletion) bool { return d.state == isPending })
		s.added = isAccepted
		if role == model.RejectedAddition {
			s.added = isRejected
		}
	case model.AcceptedDeletion, model.RejectedDeletion:
		if s.added == isPending {
			s.added = none
		}
		now := isAccepted
		if role == model.RejectedDeletion {
			now = isRejected
		}
		for i := range kept {
			if kept[i].state == isPending {
				kept[i] = deletion{seq, now}
			}
		}
		kept = append(kept, deletion{seq, now})
	}
	s.deleted = kept
	return s
}

// undone is the state after the decision with that number is taken back.
func (s charState) undone(role model.Role, seq uint64) charState {
	s.deleted = slices.Clone(s.deleted)
	switch role {
	case model.TypedInstead:
		s.dead = true
	case model.AcceptedAddition, model.RejectedAddition:
		s.added = isPending
	case model.AcceptedDeletion, model.RejectedDeletion:
		for i := range s.deleted {
			if s.deleted[i].by == seq {
				s.deleted[i].state = isPending
			}
		}
	}
	return s
}
