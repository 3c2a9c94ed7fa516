package org.opendedup.sar.sdfs.fuse;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import org.opendedup.sar.volume.posix.Attributes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hides permissions of files with an access list, on a mount whose lists the kernel does not check: one with
 * {@code noacl} or {@code noxattr}. The mode allows more than the list: its group bits are the maximum that any user or
 * group of the list has. Therefore such a file is shown without the permissions of group and others. The kernel then
 * refuses all access except by its owner and root.
 */
public final class AccessLists {
    private static final Logger LOG = LoggerFactory.getLogger(AccessLists.class);

    private static final byte[] NAME = "system.posix_acl_access".getBytes(US_ASCII);

    /**
     * Size in bytes of a list that says no more than the mode ({@code linux/posix_acl_xattr.h}): a version, and the
     * entries for owner, group and others.
     */
    private static final int MODE_LIST_BYTES = 4 + 3 * 8;

    private static final int GROUP_AND_OTHERS = 00077;
    private static final int SET_ID = FileMode.SETUID | FileMode.SETGID;

    private final FuseFileSystem operations;

    public AccessLists(FuseFileSystem operations) {
        this.operations = operations;
    }

    /** Returns the attributes to show to the kernel. */
    public Attributes shown(Attributes attributes) throws IOException {
        int open = attributes.mode() & GROUP_AND_OTHERS;
        if (open == 0 || !hasList(attributes)) {
            return attributes;
        }
        return closed(attributes);
    }

    /** As {@link #shown}, for a caller that cannot report a failure: if the list cannot be read, it counts as one. */
    public Attributes shownOrClosed(Attributes attributes) {
        try {
            return shown(attributes);
        } catch (IOException e) {
            LOG.warn("inode {}: its access list cannot be read; group and others get EACCES", attributes.inode(), e);
            return closed(attributes);
        }
    }

    private static Attributes closed(Attributes attributes) {
        return withMode(attributes, attributes.mode() & ~GROUP_AND_OTHERS);
    }

    /**
     * Returns the mode to set when the kernel requests a mode. Before a write, the kernel removes setuid and setgid by
     * sending the mode that it knows without these bits. That request must not remove the permissions that were only
     * hidden.
     */
    public int toSet(long inode, int asked) throws IOException {
        Attributes now = operations.attributes(inode);
        int mode = now.mode() & FileMode.PERMISSIONS;
        int shown = shown(now).mode() & FileMode.PERMISSIONS;
        boolean onlyDropsSetId = asked != shown && (asked | (shown & SET_ID)) == shown;
        return onlyDropsSetId ? asked | (mode & GROUP_AND_OTHERS) : asked;
    }

    private boolean hasList(Attributes attributes) throws IOException {
        if ((attributes.mode() & FileMode.TYPE_MASK) == FileMode.SYMBOLIC_LINK) {
            return false;
        }
        byte[] list = operations.extendedAttribute(attributes.inode(), NAME);
        return list != null && list.length > MODE_LIST_BYTES;
    }

    private static Attributes withMode(Attributes attributes, int mode) {
        return new Attributes(
                attributes.inode(),
                attributes.generation(),
                mode,
                attributes.links(),
                attributes.uid(),
                attributes.gid(),
                attributes.device(),
                attributes.size(),
                attributes.blocks(),
                attributes.accessedNs(),
                attributes.modifiedNs(),
                attributes.changedNs(),
                attributes.createdNs());
    }
}
