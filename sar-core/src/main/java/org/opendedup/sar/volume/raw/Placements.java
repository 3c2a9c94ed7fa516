package org.opendedup.sar.volume.raw;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.raw.Placement;
import org.opendedup.sar.raw.RawSettings;
import org.opendedup.sar.volume.node.ExtendedAttributes;
import org.opendedup.sar.volume.node.Node;
import org.opendedup.sar.volume.node.NodeTable;

/**
 * Where new files of a folder are stored first: as the attribute {@link Placement#ATTRIBUTE} of the folder says, or of
 * the nearest folder above it that has one, else as the volume's settings say. Remembers what it found.
 */
public final class Placements {
    private static final byte[] ATTRIBUTE = Placement.ATTRIBUTE.getBytes(US_ASCII);
    private static final int MAX_REMEMBERED = 10_000;

    private final RawSettings settings;
    private final NodeTable nodes;
    private final ExtendedAttributes attributes;
    /** Another one after each change, so that what was found before it is not remembered after it. */
    private volatile ConcurrentHashMap<Long, Placement> remembered = new ConcurrentHashMap<>();

    public Placements(RawSettings settings, NodeTable nodes, ExtendedAttributes attributes) {
        this.settings = settings;
        this.nodes = nodes;
        this.attributes = attributes;
    }

    public static boolean isAttribute(byte[] name) {
        return Arrays.equals(name, ATTRIBUTE);
    }

    /** Returns the placement that a value of the attribute names; EINVAL if it names none. */
    public static Placement parse(byte[] value) throws PosixException {
        Placement placement = Placement.of(value);
        if (placement == null) {
            throw new PosixException(
                    Reason.EINVAL, Placement.ATTRIBUTE + " must be one of " + Arrays.toString(Placement.values()));
        }
        return placement;
    }

    /** Forgets what it found, because an attribute or the place of a folder changed. */
    public void forget() {
        remembered = new ConcurrentHashMap<>();
    }

    /**
     * Returns the placement of a file: that of new files in the folder by which it was found last, or of the volume if
     * that is not known, or is gone.
     */
    Placement of(Node node) throws IOException {
        long folder;
        synchronized (node) {
            folder = node.folder;
        }
        try {
            return folder == 0 ? settings.placement() : in(folder);
        } catch (PosixException e) {
            if (e.reason() != Reason.ESTALE) {
                throw e;
            }
            return settings.placement();
        }
    }

    /** Returns the placement of new files in a directory. */
    Placement in(long directory) throws IOException {
        if (!settings.isEnabled()) {
            return Placement.SAR;
        }
        ConcurrentHashMap<Long, Placement> present = remembered;
        Placement known = present.get(directory);
        if (known != null) {
            return known;
        }
        Placement found = find(directory);
        if (present.size() >= MAX_REMEMBERED) {
            present.clear();
        }
        present.put(directory, found);
        return found;
    }

    private Placement find(long directory) throws IOException {
        long at = directory;
        while (true) {
            Node node = nodes.pin(at);
            try {
                byte[] value = attributes.get(node, ATTRIBUTE);
                Placement own = value == null ? null : Placement.of(value);
                if (own != null) {
                    return own;
                }
                if (at == Inode.ROOT) {
                    return settings.placement();
                }
                at = node.parent();
            } finally {
                nodes.unpin(node);
            }
        }
    }
}
