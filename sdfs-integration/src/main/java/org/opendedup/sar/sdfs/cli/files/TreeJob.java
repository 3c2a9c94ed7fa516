package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.sdfs.jobs.RunningJob;
import org.opendedup.sar.sdfs.restore.BoundedWords;
import org.opendedup.sar.sdfs.restore.TreeEntry;
import org.opendedup.sar.sdfs.restore.TreeWalk;
import org.opendedup.sar.volume.Volume;

/**
 * The work of a job on a file, or on a folder with all that is below it. Counts what was done, and names some of the
 * files that it passed over. A file that cannot be worked on does not end the work on the others.
 */
abstract class TreeJob implements RunningJob.Work<Map<String, Object>> {
    private static final String FAILED = "failedFiles";
    private static final String FAILURES = "failures";

    private final ServedPaths paths;
    private final String path;
    private final String step;
    private final String counted;

    /** Guarded by this. */
    private final Map<String, Long> counts = new LinkedHashMap<>();

    /** Guarded by this. */
    private final Map<String, BoundedWords> names = new LinkedHashMap<>();

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
        this.names.put(FAILURES, new BoundedWords());
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
            names.put(list, new BoundedWords());
        }
    }

    final void name(String list, String text) {
        synchronized (this) {
            names.computeIfAbsent(list, key -> new BoundedWords()).add(Printable.line(text));
        }
    }

    @Override
    public final Map<String, Object> run(RunningJob<Map<String, Object>> job) throws IOException {
        job.reports(this::report);
        work(job);
        return report();
    }

    /** Works on all files. */
    void work(Progress progress) throws IOException {
        walk(progress);
    }

    /** Works on all files once. */
    final void walk(Progress progress) throws IOException {
        boolean done = paths.use(path, inode -> {
            new TreeWalk(volume(), new Visits(progress)).walk(inode);
            return true;
        });
        assert done;
    }

    /** Visits what the walk finds. The number of an entry is its depth; that of the root is 0. */
    private final class Visits implements TreeWalk.Visitor {
        private final Progress progress;
        private final ShownPath shown = new ShownPath(path);

        Visits(Progress progress) {
            this.progress = progress;
        }

        @Override
        public long visit(TreeEntry entry) throws IOException {
            checkStopped(progress);
            long depth = entry.parent() + 1;
            shown.at(depth, EntryNames.text(entry.name()));
            if (entry.isDirectory() || entry.isRegular()) {
                work(entry);
            } else if (entry.isRoot()) {
                throw new IOException(path + " is neither a file nor a folder");
            }
            return depth;
        }

        private void work(TreeEntry entry) throws IOException {
            try {
                TreeJob.this.visit(entry, shown, progress);
            } catch (InterruptedIOException | NoSpaceException e) {
                throw e;
            } catch (IOException e) {
                failed(FailureText.of(e));
            }
        }

        @Override
        public void unreadable(long parent, byte @Nullable [] name, IOException why) {
            shown.at(parent + 1, name == null ? "..." : EntryNames.text(name));
            failed(FailureText.of(why));
        }

        private void failed(String why) {
            add(FAILED, 1);
            name(FAILURES, shown + ": " + why);
        }
    }

    final void checkStopped(Progress progress) throws InterruptedIOException {
        progress.at(step, count(counted), 0);
    }

    /**
     * Works on a regular file or a folder.
     *
     * @param at its path, for messages
     */
    abstract void visit(TreeEntry entry, ShownPath at, Progress progress) throws IOException;

    final Map<String, Object> report() {
        synchronized (this) {
            var report = new LinkedHashMap<String, Object>(counts);
            names.forEach((list, named) -> report.put(list, named.copy()));
            return report;
        }
    }
}
