package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.RenameMode;
import org.opendedup.sar.volume.posix.SetMode;

/** Random changes of a small tree: files and folders are made, changed, renamed, linked and removed. For one thread. */
public final class RandomTree {
    private static final Owner OWNER = new Owner(1, 1);
    private static final int NAMES = 12;
    private static final int MAX_WRITE = 300 << 10;
    private static final int MAX_OFFSET = 1 << 20;

    private final SplittableRandom random;
    private final List<Long> directories = new ArrayList<>(List.of(Inode.ROOT));
    /** Blocks that are written again and again, so that chunks are shared. */
    private final byte[][] blocks = new byte[6][MAX_WRITE];

    public RandomTree(SplittableRandom random) {
        this.random = random;
        for (byte[] block : blocks) {
            random.nextBytes(block);
        }
    }

    /** Makes a number of changes; some of them are refused, as of a name that exists. */
    public void change(Volume volume, int changes) throws IOException {
        for (int i = 0; i < changes; i++) {
            try {
                change(volume);
            } catch (PosixException e) {
                // As the name or the folder happens to be.
            }
        }
    }

    private long directory() {
        return directories.get(random.nextInt(directories.size()));
    }

    private byte[] name() {
        return ("name" + random.nextInt(NAMES)).getBytes(ISO_8859_1);
    }

    private void change(Volume volume) throws IOException {
        switch (random.nextInt(14)) {
            case 0, 1, 2 -> write(volume, make(volume));
            case 3, 4 -> write(volume, volume.lookup(directory(), name()));
            case 5 -> {
                Attributes made = volume.makeDirectory(directory(), name(), 0755, OWNER);
                directories.add(made.inode());
                volume.forget(made.inode(), 1);
            }
            case 6, 7 -> volume.unlink(directory(), name());
            case 8 -> volume.rename(directory(), name(), directory(), name(), RenameMode.REPLACE);
            case 9 -> {
                Attributes found = volume.lookup(directory(), name());
                volume.forget(found.inode(), 1);
                volume.forget(volume.link(found.inode(), directory(), name()).inode(), 1);
            }
            case 10 ->
                volume.forget(
                        volume.makeSymbolicLink(directory(), name(), name(), OWNER)
                                .inode(),
                        1);
            case 11 -> setAttribute(volume);
            case 12 -> truncate(volume);
            default -> volume.removeDirectory(directory(), name());
        }
    }

    private Attributes make(Volume volume) throws IOException {
        return volume.makeNode(directory(), name(), 0100644, 0, OWNER);
    }

    private void write(Volume volume, Attributes found) throws IOException {
        try {
            if ((found.mode() & 0170000) != 0100000) {
                return;
            }
            OpenFile file = volume.open(found.inode(), true);
            try {
                for (int n = random.nextInt(3); n >= 0; n--) {
                    byte[] block = blocks[random.nextInt(blocks.length)];
                    int from = random.nextInt(block.length);
                    int length = 1 + random.nextInt(block.length - from);
                    volume.write(file, random.nextInt(MAX_OFFSET), ByteBuffer.wrap(block, from, length));
                }
                if (random.nextInt(4) == 0) {
                    volume.zero(file, random.nextInt(MAX_OFFSET), 1 + random.nextInt(MAX_OFFSET), true);
                }
                if (random.nextInt(3) == 0) {
                    volume.sync(file);
                }
            } finally {
                volume.close(file);
            }
        } finally {
            volume.forget(found.inode(), 1);
        }
    }

    private void truncate(Volume volume) throws IOException {
        Attributes found = volume.lookup(directory(), name());
        try {
            volume.change(found.inode(), AttributeChange.ofSize(random.nextInt(MAX_OFFSET)));
        } finally {
            volume.forget(found.inode(), 1);
        }
    }

    private void setAttribute(Volume volume) throws IOException {
        Attributes found = volume.lookup(directory(), name());
        try {
            byte[] attribute = ("user.a" + random.nextInt(3)).getBytes(ISO_8859_1);
            if (random.nextInt(3) == 0) {
                volume.removeExtendedAttribute(found.inode(), attribute);
            } else {
                volume.setExtendedAttribute(found.inode(), attribute, name(), SetMode.CREATE_OR_REPLACE);
                volume.change(found.inode(), AttributeChange.ofMode(0600 + random.nextInt(0177)));
            }
        } finally {
            volume.forget(found.inode(), 1);
        }
    }
}
