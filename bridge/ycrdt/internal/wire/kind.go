package wire

// The kinds of content, numbered as the low five bits of a struct's info byte.
const (
	KindGC      = 0 // a range of units without content or place in a list
	KindDeleted = 1
	KindJSON    = 2
	KindBinary  = 3
	KindString  = 4
	KindEmbed   = 5
	KindFormat  = 6
	KindType    = 7
	KindAny     = 8
	KindDoc     = 9
	KindSkip    = 10 // on the wire only: a hole in a merged update
)

// infoKind masks the kind in an info byte. The other bits are flags.
const (
	infoKind      = 0x1f
	InfoParentSub = 0x20
	InfoRight     = 0x40
	InfoOrigin    = 0x80
)

const (
	TypeArray       = 0
	TypeMap         = 1
	TypeText        = 2
	TypeXMLElement  = 3
	TypeXMLFragment = 4
	TypeXMLHook     = 5
	TypeXMLText     = 6
)
