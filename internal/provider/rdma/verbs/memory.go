package verbs

import (
	"unsafe"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// protectionDomain is an hca.PD.
type protectionDomain struct {
	dev *Device
	pd  uintptr
}

// Register implements hca.PD. It always requests both access rights: RDMA over
// Thunderbolt accepts no memory without them.
func (p *protectionDomain) Register(mem []byte) (hca.MR, error) {
	mr, err := p.dev.lib.regMR.object(p.pd, uintptr(unsafe.Pointer(&mem[0])), uintptr(len(mem)), accessLocalWrite|accessRemoteWrite)
	if err != nil {
		return nil, err
	}
	return &memory{p.dev.lib, mr}, nil
}

// Close implements hca.PD.
func (p *protectionDomain) Close() error { return p.dev.lib.deallocPD.do(p.pd) }

// memory is an hca.MR.
type memory struct {
	lib *library
	mr  uintptr
}

// LKey implements hca.MR.
func (m *memory) LKey() uint32 { return at[memoryRegion](m.mr).lkey }

// RKey implements hca.MR.
func (m *memory) RKey() uint32 { return at[memoryRegion](m.mr).rkey }

// Close implements hca.MR.
func (m *memory) Close() error { return m.lib.deregMR.do(m.mr) }
