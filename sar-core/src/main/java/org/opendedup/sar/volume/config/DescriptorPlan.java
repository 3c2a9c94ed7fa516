package org.opendedup.sar.volume.config;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import org.opendedup.sar.container.ContainerOptions;
import org.opendedup.sar.hot.HotChunks;
import org.opendedup.sar.index.IndexClass;
import org.opendedup.sar.metadata.db.KeyValueStores;
import org.opendedup.sar.remote.RemoteDirectory;

/**
 * How many files a volume has open at the same time, at most. The JVM raises the limit of its process to the hard limit
 * when it starts. Without enough descriptors every part of a volume fails at some time, so such a volume is not opened.
 * Raw files have what is left: beyond that, a new file is stored in chunks.
 */
public final class DescriptorPlan {
    /** Packs that are written, compacted, healed, verified or read beyond the cache of open packs. */
    private static final int WORKING_PACKS = 64;
    /** Logs, locks, ballasts, folders, libraries, sockets of commands, and what the JVM opens. */
    private static final int OTHERS = 192;
    /** A channel of each thread that serves requests, and an event of its own. */
    private static final int A_THREAD = 2;

    private DescriptorPlan() {}

    /** Returns the number of files that a volume needs. */
    public static long needed(VolumeConfig config) {
        // A check has a copy of the metadata open.
        long databases = 2L * KeyValueStores.MOST_OPEN_FILES + IndexClass.MOST_OPEN_FILES;
        long ssd = config.hot() == null ? 0 : HotChunks.mostOpenFiles(config.hot());
        long threads = (long) A_THREAD * config.requests().threads();
        long segments = config.locations().remote() == null ? 0 : RemoteDirectory.MOST_OPEN_FILES;
        return segments + ContainerOptions.MOST_CACHED_PACKS + WORKING_PACKS + databases + ssd + threads + OTHERS;
    }

    /** @throws IOException if the process may not open as many files as a volume needs */
    public static void require(VolumeConfig config) throws IOException {
        require(config, limit());
    }

    /** Returns how many files the process may open. */
    private static long limit() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                ? system.getMaxFileDescriptorCount()
                : Long.MAX_VALUE;
    }

    /** Returns how many raw files may be open at a time: what the volume does not need otherwise. */
    public static int forRawFiles(VolumeConfig config) {
        return (int) Math.max(0, Math.min(Integer.MAX_VALUE, limit() - needed(config)));
    }

    /** @param limit how many files the process may open */
    static void require(VolumeConfig config, long limit) throws IOException {
        long needed = needed(config);
        if (limit < needed) {
            throw new IOException("the volume '" + config.name() + "' needs up to " + needed
                    + " open files, and this process may have " + limit
                    + ": raise its hard limit, with 'ulimit -n " + needed + "' in the shell that mounts the volume, or"
                    + " with LimitNOFILE=" + needed + " in the unit");
        }
    }
}
