"""Where bytes become domain values and back; the only readers and writers of published formats."""
