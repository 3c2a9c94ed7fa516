package org.opendedup.sar.sdfs.cli.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.sdfs.restore.TreeEntry;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.posix.Owner;

/** Works on trees of a volume that nobody has mounted. */
@Timeout(60)
class TreeJobTest {
    private static final Owner ROOT = new Owner(0, 0);
    private static final String LONG_NAME = "n".repeat(255);

    @TempDir
    Path folder;

    private Volume volume;

    @BeforeEach
    void makeVolume() throws IOException {
        VolumeConfig config = Definitions.plain("pool0", folder.resolve("base")).engineConfig();
        Volume.create(config);
        volume = Volume.open(config);
    }

    @AfterEach
    void closeVolume() throws IOException {
        volume.close();
    }

    @Test
    void allFilesAndFoldersBelowAPathAreVisitedAndNamedByTheirPaths() throws IOException {
        long sub = makeFolder(Inode.ROOT, "sub");
        long low = makeFolder(makeFolder(sub, "a"), "b");
        makeFile(low, "in b");
        makeFile(sub, "in sub");
        makeFile(Inode.ROOT, "beside");
        volume.makeSymbolicLink(sub, bytes("link"), bytes("../beside"), ROOT);
        Job job = new Job("sub", entry -> true);
        job.walk(Progress.NONE);
        assertEquals(List.of("sub", "sub/a", "sub/a/b", "sub/a/b/in b", "sub/in sub"), job.visitedPaths());
    }

    @Test
    void aNameIsShownOnOneLine() throws IOException {
        makeFile(Inode.ROOT, "a\nsdfscli: all is well");
        Job job = new Job("", TreeEntry::isRegular);
        job.walk(Progress.NONE);
        assertEquals(List.of("a\\u000asdfscli: all is well: failed"), job.failures());
    }

    /** A walk that held the path of each folder took 500 MB here, and half of that at the end. */
    @Test
    void theMemoryForAFolderOnTheWayDoesNotGrowWithItsDepth() throws IOException {
        int depth = 2000;
        long at = Inode.ROOT;
        for (int i = 0; i < depth; i++) {
            at = makeFolder(at, LONG_NAME);
        }
        makeFile(at, "deep");
        makeFile(Inode.ROOT, "z");
        Job job = new Job("", TreeEntry::isRegular);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(thread);

        job.walk(Progress.NONE);

        long allocated = threads.getThreadAllocatedBytes(thread) - before;
        assertTrue(allocated / depth < 100 << 10, () -> allocated + " bytes allocated for " + depth + " folders");
        List<String> failures = new ArrayList<>(job.failures());
        failures.sort(null);
        String way = String.join("/", List.of(LONG_NAME, LONG_NAME));
        assertTrue(failures.get(0).startsWith(way) && failures.get(0).endsWith("/.../deep: failed"), failures.get(0));
        assertTrue(failures.get(0).length() < 4096 + 100, failures.get(0));
        assertEquals("z: failed", failures.get(1));
    }

    private long makeFolder(long parent, String name) throws IOException {
        return volume.makeDirectory(parent, bytes(name), 0755, ROOT).inode();
    }

    private void makeFile(long parent, String name) throws IOException {
        volume.makeNode(parent, bytes(name), 0100644, 0, ROOT);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static final ServedPaths.Cache NO_CACHE = new ServedPaths.Cache() {
        @Override
        public void writeBack() {}

        @Override
        public void beginWriteBack() {}

        @Override
        public void forget(long directory, byte[] name) {}
    };

    /** Fails on chosen entries. */
    private final class Job extends TreeJob {
        private final Predicate<TreeEntry> fails;

        Job(String path, Predicate<TreeEntry> fails) {
            super(new ServedPaths(volume, NO_CACHE), path, "step", "done", List.of("done"));
            this.fails = fails;
        }

        @Override
        void visit(TreeEntry entry, ShownPath at, Progress progress) throws IOException {
            if (fails.test(entry)) {
                throw new IOException("failed");
            }
        }

        @SuppressWarnings("unchecked")
        List<String> failures() {
            return (List<String>) report().get("failures");
        }

        List<String> visitedPaths() {
            return failures().stream()
                    .map(line -> line.replace(": failed", ""))
                    .sorted()
                    .toList();
        }
    }
}
