package org.opendedup.sar.ingest;

import java.util.concurrent.atomic.LongAdder;

/** What the write path did since the volume was opened, in bytes. Bytes cut again around an overwrite count again. */
public final class IngestStatistics {
    final LongAdder duplicateBytes = new LongAdder();
    final LongAdder zeroBytes = new LongAdder();

    /** Bytes of chunks that were stored already. */
    public long duplicateBytes() {
        return duplicateBytes.sum();
    }

    /** Bytes of zero runs. */
    public long zeroBytes() {
        return zeroBytes.sum();
    }
}
