package org.opendedup.sar.volume.rewrite;

import java.io.InterruptedIOException;
import java.util.List;
import java.util.Set;

/** Verifies copies before others are given up for them. */
@FunctionalInterface
public interface KeptChunks {
    /** Returns those of these chunks that can be read and have the bytes of their fingerprint. */
    Set<Long> readable(List<Long> chunks) throws InterruptedIOException;
}
