package org.opendedup.sar.ingest;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.hot.copies.AccessListener;
import org.opendedup.sar.ssd.ChunkRequest;

/**
 * Reports the duplicates of streams with the runs that they belong to: copies that lie one after another in their
 * container, in the order of the stream. A long run is read quickly from a disk. So a run is reported at its end, or as
 * soon as it is long; until then its chunks are held, with their bytes. {@code WrittenDuplicates} does the same by the
 * recipe of a file. Knows the streams that were written last. Safe for use by many threads.
 */
final class StreamRuns {
    private static final int MAX_STREAMS = 256;
    /**
     * Bytes held for all streams together. A run that finds them used up is reported as it is then. They are less than
     * what the memory budget has for the segments of files, which a volume of chunks does not use.
     */
    private static final int MAX_HELD_BYTES = 4 << 20;

    private static final float LOAD_FACTOR = 0.75f;

    private final AccessListener listener;
    /** The stream used longest ago comes first. Guarded by this, as is all below. */
    private final Map<Long, Run> runs = new LinkedHashMap<>(16, LOAD_FACTOR, true);

    private long heldBytes;

    /** The last run of a stream. */
    private static final class Run {
        private final long stream;
        private long lastChunk = ChunkId.NONE;
        private long bytes;
        /** Chunks that are not reported yet. */
        private @Nullable ChunkRequest held;

        private long heldBytes;

        Run(long stream) {
            this.stream = stream;
        }

        boolean goesOnWith(long chunk) {
            return chunk == lastChunk
                    || chunk == lastChunk + 1 && ChunkId.container(chunk) == ChunkId.container(lastChunk);
        }
    }

    /** Chunks to be reported, of a stream. */
    private record Report(long stream, ChunkRequest chunks) {}

    StreamRuns(AccessListener listener) {
        this.listener = listener;
    }

    /**
     * Notes a duplicate.
     *
     * @param references its references now
     * @param data array that begins with its bytes; not used after the call
     */
    void note(long stream, long chunk, int length, int fingerprintPrefix, int references, byte[] data) {
        List<Report> reports = new ArrayList<>();
        synchronized (this) {
            Run run = runs.computeIfAbsent(stream, Run::new);
            if (!run.goesOnWith(chunk)) {
                end(run, reports);
                run.bytes = 0;
            }
            run.bytes += chunk == run.lastChunk ? 0 : length;
            run.lastChunk = chunk;
            hold(run, length, fingerprintPrefix, references, data);
            if (run.bytes >= listener.longRunBytes() || heldBytes > MAX_HELD_BYTES) {
                end(run, reports);
            }
            if (runs.size() > MAX_STREAMS) {
                Run oldest = runs.values().iterator().next();
                runs.remove(oldest.stream);
                end(oldest, reports);
            }
        }
        report(reports);
    }

    private void hold(Run run, int length, int fingerprintPrefix, int references, byte[] data) {
        ChunkRequest held = run.held;
        if (held == null) {
            held = new ChunkRequest();
            run.held = held;
        }
        held.add(run.lastChunk, length, fingerprintPrefix, -1);
        int last = held.count() - 1;
        held.setReferences(last, references);
        held.setData(last, Arrays.copyOf(data, length), 0, length);
        run.heldBytes += length;
        heldBytes += length;
    }

    /** Takes the held chunks of a run, to be reported with what is known of the run now. */
    private void end(Run run, List<Report> reports) {
        ChunkRequest held = run.held;
        if (held != null) {
            for (int i = 0; i < held.count(); i++) {
                held.setRunBytes(i, run.bytes);
            }
            reports.add(new Report(run.stream, held));
            run.held = null;
            heldBytes -= run.heldBytes;
            run.heldBytes = 0;
        }
    }

    /** Ends the run of a stream, which wrote a chunk that is no duplicate. */
    void end(long stream) {
        List<Report> reports = new ArrayList<>();
        synchronized (this) {
            Run run = runs.remove(stream);
            if (run != null) {
                end(run, reports);
            }
        }
        report(reports);
    }

    /** Ends the runs of all streams. */
    void endAll() {
        List<Report> reports = new ArrayList<>();
        synchronized (this) {
            runs.values().forEach(run -> end(run, reports));
            runs.clear();
        }
        report(reports);
    }

    /** Called without the monitor, because the listener takes locks of its own. */
    private void report(List<Report> reports) {
        reports.forEach(report -> listener.onDuplicatesWritten(report.stream, report.chunks));
    }
}
