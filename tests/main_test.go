package tests

import "testing"

func TestMain(m *testing.M) { run(m) }
