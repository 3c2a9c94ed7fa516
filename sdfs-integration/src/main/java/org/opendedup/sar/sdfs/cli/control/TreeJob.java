package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.opendedup.sar.check.CheckProgress;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.sdfs.cli.command.FailureText;
import org.opendedup.sar.volume.Volume;

/**
 * The work of a job on a file, or on a folder with all that is below it. Counts what was done, and names some of the
 * files that it passed over. A file that cannot be worked on does not end the work on the others.
 */
abstract class TreeJob implements StepJob.Work, StepJob.Result {
    /** Names in each list of a report; the counts are exact. */
    static final int NAMED_MAX = 20;

    private static final String FAILED = "failedFiles";
    private static final String FAILURES = "failures";

    private final ServedPaths paths;
    private final String path;
    private final String step;
    private final String counted;

    /** Guarded by this. */
    private final Map<String, Long> counts = new LinkedHashMap<>();

    /** Guarded by this. */
    private final Map<String, List<String>> names = new LinkedHashMap<>();

    /**
     * @param step what is done, for the line of progress
     * @param counted name of the count that the line of progress shows
     * @param counts names of all counts, in the order of the report
     */
    TreeJob(ServedPaths paths, String path, String step, String counted, List<String> counts) {
        this.paths = paths;
        this.path = path;
        this.step = step;
        this.counted = counted;
        counts.forEach(name -> this.counts.put(name, 0L));
        this.counts.put(FAILED, 0L);
        this.names.put(FAILURES, new ArrayList<>());
    }

    final Volume volume() {
        return paths.volume();
    }

    final void add(String name, long more) {
        synchronized (this) {
            counts.merge(name, more, Long::sum);
        }
    }

    final long count(String name) {
        synchronized (this) {
            return counts.getOrDefault(name, 0L);
        }
    }

    /** Begins a count and its list of names again. */
    final void reset(String name, String list) {
        synchronized (this) {
            counts.put(name, 0L);
            names.put(list, new ArrayList<>());
        }
    }

    final void name(String list, String text) {
        synchronized (this) {
            List<String> named = names.computeIfAbsent(list, key -> new ArrayList<>());
            if (named.size() < NAMED_MAX) {
                named.add(Printable.line(text));
            }
        }
    }

    @Override
    public void run(CheckProgress progress) throws IOException {
        walk(progress);
    }

    /** Works on all files once. */
    final void walk(CheckProgress progress) throws IOException {
        boolean done = paths.use(path, inode -> {
            VolumeWalk.visit(volume(), path, inode, (at, found, isFolder) -> {
                checkStopped(progress);
                try {
                    visit(at, found, isFolder, progress);
                } catch (InterruptedIOException | NoSpaceException e) {
                    throw e;
                } catch (IOException e) {
                    add(FAILED, 1);
                    name(FAILURES, at + ": " + FailureText.of(e));
                }
            });
            return true;
        });
        assert done;
    }

    final void checkStopped(CheckProgress progress) throws InterruptedIOException {
        progress.at(step, count(counted), 0);
    }

    /** @param at path from the volume's root */
    abstract void visit(String at, long inode, boolean isFolder, CheckProgress progress) throws IOException;

    @Override
    public final void addTo(Map<String, Object> report) {
        synchronized (this) {
            report.putAll(counts);
            names.forEach((list, named) -> report.put(list, List.copyOf(named)));
        }
    }
}
