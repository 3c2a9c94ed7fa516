package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.sdfs.jmx.FakeFastTier;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;
import org.opendedup.sar.volume.raw.FastTier;
import org.opendedup.sar.volume.raw.FastTier.FileStatus;
import org.opendedup.sar.volume.raw.FastTier.Place;

/** Raw files without a volume: a folder {@code vm} with a file {@code disk.img}, and figures. Records the calls. */
public final class FakeTierTools extends TierTools {
    /** Its figures. */
    public final FakeFastTier fast = new FakeFastTier();

    /** What was asked for, in order. Guarded by itself. */
    public final List<String> events = new ArrayList<>();

    /** Names of lost files. */
    public List<String> lost = List.of();

    /** Where the file is. */
    public FileStatus file =
            new FileStatus(Place.FAST_TIER, Placement.TDDFS, 5 << 20, 1_700_000_000_000L, false, false, 0);

    /** What the next job reports. */
    public Map<String, Object> report = Map.of();

    public FakeTierTools() {
        super(null, null);
    }

    @Override
    public FastTier.Summary summary() {
        return fast.summary();
    }

    @Override
    public FastTier.Status status() {
        return fast.status();
    }

    @Override
    public long lostFiles() {
        return fast.lostFiles;
    }

    /** Settings and figures of a fast tier that is in use. */
    public FakeTierTools inUse() {
        fast.settings = new RawSettings(Placement.TDDFS, 100L << 20, 85, 70, 60);
        fast.absent = null;
        fast.files = 10;
        fast.changedFiles = 4;
        return this;
    }

    @Override
    public List<String> lost() {
        return lost;
    }

    @Override
    public Explanation explain(String path) throws IOException {
        return switch (path) {
            case "vm" -> new Explanation(Placement.PIN, null);
            case "vm/disk.img", FakeFileTools.ODD -> new Explanation(file.placement(), file);
            default -> throw new IOException(path + " is no file of the volume");
        };
    }

    @Override
    public Work<Map<String, Object>> migrate(String path, boolean waits) {
        return job("migrate " + path + (waits ? " and wait" : ""));
    }

    @Override
    public Work<Map<String, Object>> pin(String path, boolean isPinned) {
        return job((isPinned ? "pin " : "unpin ") + path);
    }

    @Override
    public Work<Map<String, Object>> reload(String path, boolean waits) {
        return job("reload " + path + (waits ? " and wait" : ""));
    }

    @Override
    public boolean attach(boolean makeNew) {
        note("attach" + (makeNew ? " new" : ""));
        boolean attached = fast.absent != null;
        fast.absent = null;
        return attached;
    }

    private void note(String event) {
        synchronized (events) {
            events.add(event);
        }
    }

    private Work<Map<String, Object>> job(String event) {
        Map<String, Object> result = report;
        return job -> {
            note(event);
            if (event.endsWith("stopped")) {
                throw new InterruptedIOException("stopped");
            }
            return result;
        };
    }
}
