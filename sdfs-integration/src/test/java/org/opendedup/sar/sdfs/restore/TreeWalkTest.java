package org.opendedup.sar.sdfs.restore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.posix.Owner;

class TreeWalkTest {
    private static final Owner ROOT = new Owner(0, 0);

    @TempDir
    Path folder;

    @Test
    void whatLiesInTooManyFoldersIsReportedAndTheRestVisited() throws IOException {
        VolumeConfig config = Definitions.plain("pool0", folder.resolve("base")).engineConfig();
        Volume.create(config);
        try (Volume volume = Volume.open(config)) {
            long at = Inode.ROOT;
            for (String name : List.of("a", "b", "c", "d")) {
                volume.makeNode(at, bytes("in " + name), 0100644, 0, ROOT);
                at = volume.makeDirectory(at, bytes(name), 0755, ROOT).inode();
            }
            Found found = new Found();
            new TreeWalk(volume, found, 2).walk(Inode.ROOT);
            found.names.sort(null);
            assertEquals(
                    List.of("", "a", "b", "b in 1: it lies in 2 folders, and is not entered", "in a", "in b"),
                    found.names);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    /** The number of an entry is its depth. */
    private static final class Found implements TreeWalk.Visitor {
        final List<String> names = new ArrayList<>();

        @Override
        public long visit(TreeEntry entry) {
            names.add(new String(entry.name(), UTF_8));
            return entry.parent() + 1;
        }

        @Override
        public void unreadable(long parent, byte @Nullable [] name, IOException why) {
            names.add(new String(Objects.requireNonNull(name), UTF_8) + " in " + parent + ": " + why.getMessage());
        }
    }
}
