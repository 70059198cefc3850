//go:build !linux

package tcp

import "thundercollective/fabric"

type backlogs struct{}

// newSolo returns nil: solos need what only Linux has.
func (f *Fabric) newSolo(*link, fabric.Channel) fabric.Link { return nil }
