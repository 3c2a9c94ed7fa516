package org.opendedup.sar.sdfs.cli.files;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.sdfs.jmx.FastTierSource;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;
import org.opendedup.sar.volume.raw.FastTier;

/** Operations on the raw files of a mounted volume. Paths start at the volume's root. */
public interface TierTools extends FastTierSource {
    /**
     * Where the bytes of a file are, or new files of a folder are stored.
     *
     * @param placement where new files of the folder, or of the file's folder, are stored first
     * @param file what is known of a file; null for a folder
     */
    record Explanation(Placement placement, FastTier.@Nullable FileStatus file) {}

    /** Returns the paths of lost files: at most {@link FastTier#MAX_NAMED}. */
    List<String> lost() throws IOException;

    /**
     * Explains where a file lies.
     *
     * @throws IOException if there is no such file or folder; names the path
     */
    Explanation explain(String path) throws IOException;

    /**
     * Returns what migrates a file, or the raw files below a folder.
     *
     * @param waits whether to try files in use again until they are at rest
     */
    Work<Map<String, Object>> migrate(String path, boolean waits);

    /** Returns what pins a file or folder, and the raw files below it, or ends that. */
    Work<Map<String, Object>> pin(String path, boolean isPinned);

    /** Returns what reads the files at and below a path that lie in chunks. */
    Work<Map<String, Object>> reload(String path);

    /** See {@link FastTier#attach}. */
    boolean attach(boolean makeNew) throws IOException;
}
