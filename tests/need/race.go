//go:build race

package need

func init() { raced = true }
