package org.opendedup.sar.volume;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.Namespace;

/**
 * The extended attributes of inodes in use, and the rules of those that are access control lists. Whether an inode has any is
 * remembered in its {@link Node}: most have none, and then nobody asks the database.
 *
 * <p>Changes are made by one thread at a time: callers hold the lock of the names and the change lock.
 */
final class ExtendedAttributes {
    private static final int MAX_NAME_BYTES = 255;
    private static final int MAX_VALUE_BYTES = 64 << 10;
    /** Of all names of an inode, each with a byte behind it: Linux shows no longer list ({@code XATTR_LIST_MAX}). */
    private static final int MAX_LIST_BYTES = 64 << 10;

    /** The privileges a program file has without setuid (capabilities(7)). */
    private static final byte[] CAPABILITY = "security.capability".getBytes(US_ASCII);

    private final Namespace namespace;

    ExtendedAttributes(Namespace namespace) {
        this.namespace = namespace;
    }

    /** What is known of an inode's attributes. */
    enum Presence {
        UNKNOWN,
        NONE,
        SOME
    }

    byte @Nullable [] get(Node node, byte[] name) throws IOException {
        return hasAny(node) ? namespace.attribute(node.id, name) : null;
    }

    List<byte[]> names(Node node) throws IOException {
        return hasAny(node) ? namespace.attributes(node.id) : List.of();
    }

    private boolean hasAny(Node node) throws IOException {
        Presence known;
        synchronized (node) {
            known = node.attributes;
        }
        if (known != Presence.UNKNOWN) {
            return known == Presence.SOME;
        }
        boolean any = !namespace.attributes(node.id).isEmpty();
        synchronized (node) {
            // Who sets one says SOME before: then what was just read may be old.
            if (node.attributes == Presence.UNKNOWN) {
                node.attributes = any ? Presence.SOME : Presence.NONE;
            }
            return node.attributes == Presence.SOME;
        }
    }

    /**
     * EEXIST, ENODATA, E2BIG, ERANGE, ENOSPC. An access list sets the mode too, and is kept only where it says more: EINVAL for
     * a malformed one, EACCES for a default list of what is no directory.
     */
    void set(Node node, byte[] name, byte[] value, Volume.SetMode mode) throws IOException {
        if (value.length > MAX_VALUE_BYTES || name.length > MAX_NAME_BYTES) {
            throw new PosixException(name.length > MAX_NAME_BYTES ? Reason.ERANGE : Reason.E2BIG, "attribute");
        }
        boolean exists = get(node, name) != null;
        Volume.SetMode refused = exists ? Volume.SetMode.CREATE : Volume.SetMode.REPLACE;
        if (mode == refused || mode == Volume.SetMode.CREATE_AND_REPLACE) {
            throw new PosixException(exists ? Reason.EEXIST : Reason.ENODATA, "attribute");
        }
        if (AccessControlList.isAccessName(name)) {
            setAccessList(node, parse(node, value));
            return;
        }
        if (AccessControlList.isDefaultName(name)) {
            parse(node, value);
            if (!node.isDirectory()) {
                throw new PosixException(Reason.EACCES, "a default list of inode " + node.id + ", no directory");
            }
        }
        if (!exists) {
            checkRoom(node, name);
        }
        put(node, name, value);
    }

    private static AccessControlList parse(Node node, byte[] value) throws PosixException {
        if (node.isSymbolicLink()) {
            throw new PosixException(Reason.EOPNOTSUPP, "an access list of a symbolic link");
        }
        return AccessControlList.parse(value);
    }

    private void setAccessList(Node node, AccessControlList list) throws IOException {
        synchronized (node) {
            node.mode = list.applyTo(node.mode);
        }
        if (list.isMode()) {
            drop(node, AccessControlList.accessName());
        } else {
            put(node, AccessControlList.accessName(), list.toBytes());
        }
    }

    private void checkRoom(Node node, byte[] name) throws IOException {
        long bytes = name.length + 1;
        for (byte[] other : names(node)) {
            bytes += other.length + 1;
        }
        if (bytes > MAX_LIST_BYTES) {
            throw new PosixException(
                    Reason.ENOSPC, "the names of inode " + node.id + "'s attributes would take " + bytes + " bytes");
        }
    }

    private void put(Node node, byte[] name, byte[] value) {
        synchronized (node) {
            node.attributes = Presence.SOME;
        }
        namespace.putAttribute(node.id, name, value);
    }

    /** ENODATA, but for access lists: without one there is nothing to do. */
    void remove(Node node, byte[] name) throws IOException {
        boolean list = AccessControlList.isAccessName(name) || AccessControlList.isDefaultName(name);
        if (!drop(node, name) && !list) {
            throw new PosixException(Reason.ENODATA, "attribute");
        }
    }

    /** Removes an attribute; returns whether there was one. */
    private boolean drop(Node node, byte[] name) throws IOException {
        if (get(node, name) == null) {
            return false;
        }
        namespace.removeAttribute(node.id, name);
        if (namespace.attributes(node.id).isEmpty()) {
            synchronized (node) {
                node.attributes = Presence.NONE;
            }
        }
        return true;
    }

    /** Whether the file has capabilities. Asks the database only of an inode that has attributes. */
    boolean hasCapability(Node node) throws IOException {
        return get(node, CAPABILITY) != null;
    }

    void dropCapability(Node node) throws IOException {
        drop(node, CAPABILITY);
    }

    /** Puts a new mode into the access list, if there is one. */
    void changeMode(Node node, int mode) throws IOException {
        byte[] value = get(node, AccessControlList.accessName());
        if (value != null) {
            AccessControlList changed = AccessControlList.parse(value).withMode(mode);
            put(node, AccessControlList.accessName(), changed.toBytes());
        }
    }

    /** What a new file gets from the directory it is made in. */
    record Inherited(
            int mode,
            @Nullable AccessControlList access,
            @Nullable AccessControlList defaults) {}

    /**
     * @param mode type and permissions that the caller asked for
     * @param umask permissions the caller wants off; not heeded where the directory has a default list
     */
    Inherited inherit(Node directory, int mode, int umask) throws IOException {
        if ((mode & Modes.TYPE) == Modes.SYMBOLIC_LINK) {
            return new Inherited(mode, null, null);
        }
        byte[] value = get(directory, AccessControlList.defaultName());
        if (value == null) {
            return new Inherited(mode & ~(umask & 0777), null, null);
        }
        AccessControlList defaults = AccessControlList.parse(value);
        AccessControlList access = defaults.limitedTo(mode);
        boolean isDirectory = (mode & Modes.TYPE) == Modes.DIRECTORY;
        return new Inherited(access.applyTo(mode), access.isMode() ? null : access, isDirectory ? defaults : null);
    }

    /** Gives a new file its lists. */
    void bequeath(Node node, Inherited inherited) {
        if (inherited.access != null) {
            put(node, AccessControlList.accessName(), inherited.access.toBytes());
        }
        if (inherited.defaults != null) {
            put(node, AccessControlList.defaultName(), inherited.defaults.toBytes());
        }
    }
}
