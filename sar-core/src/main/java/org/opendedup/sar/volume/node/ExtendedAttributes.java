package org.opendedup.sar.volume.node;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.common.PosixException.Reason;
import org.opendedup.sar.metadata.Namespace;
import org.opendedup.sar.metadata.Namespace.AttributeBytes;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.volume.posix.AccessControlList;
import org.opendedup.sar.volume.posix.InodeState;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * The extended attributes of inodes in use, with the rules for those that are access control lists. The {@link Node} of
 * an inode remembers whether it has any: most have none, and then the database is not read.
 *
 * <p>Only one thread at a time changes them: callers hold the lock of the names and the change lock.
 */
public final class ExtendedAttributes {
    private static final int MAX_NAME_BYTES = 255;
    private static final int MAX_VALUE_BYTES = 64 << 10;
    /**
     * Maximum total length in bytes of all names of an inode, each with a terminating byte: Linux returns no longer
     * list ({@code XATTR_LIST_MAX}).
     */
    public static final int MAX_LIST_BYTES = 64 << 10;
    /**
     * Maximum total length in bytes of all values of an inode. The database has the values beside the names, so a list
     * of the names reads them: with 8000 long values, half a gigabyte for each request.
     */
    public static final int MAX_VALUES_BYTES = 1 << 20;

    /** Name of the attribute with the privileges that a program file has without setuid (capabilities(7)). */
    private static final byte[] CAPABILITY = "security.capability".getBytes(US_ASCII);

    private final Namespace namespace;

    public ExtendedAttributes(Namespace namespace) {
        this.namespace = namespace;
    }

    public byte @Nullable [] get(Node node, byte[] name) throws IOException {
        return hasAny(node) ? namespace.attribute(node.id, name) : null;
    }

    public List<byte[]> names(Node node) throws IOException {
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
        boolean any = namespace.hasAttributes(node.id);
        synchronized (node) {
            // A thread that adds an attribute sets SOME first. The result just read may then be out of date.
            if (node.attributes == Presence.UNKNOWN) {
                node.attributes = any ? Presence.SOME : Presence.NONE;
            }
            return node.attributes == Presence.SOME;
        }
    }

    /**
     * Sets an attribute. EEXIST, ENODATA, E2BIG, ERANGE, ENOSPC. An access control list also sets the mode, and is kept
     * only if it contains more than the mode. EINVAL if it is malformed, EACCES for a default list of an inode that is
     * not a directory.
     */
    public void set(Node node, byte[] name, byte[] value, SetMode mode) throws IOException {
        if (value.length > MAX_VALUE_BYTES || name.length > MAX_NAME_BYTES) {
            throw new PosixException(name.length > MAX_NAME_BYTES ? Reason.ERANGE : Reason.E2BIG, "attribute");
        }
        byte[] before = get(node, name);
        boolean exists = before != null;
        SetMode refused = exists ? SetMode.CREATE : SetMode.REPLACE;
        if (mode == refused || mode == SetMode.CREATE_AND_REPLACE) {
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
        if (before == null || before.length < value.length) {
            checkRoom(node, name, value);
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

    private void checkRoom(Node node, byte[] name, byte[] value) throws IOException {
        if (!hasAny(node)) {
            return;
        }
        AttributeBytes others = namespace.attributeBytesWithout(node.id, name);
        if (others.names() + name.length + 1 > MAX_LIST_BYTES || others.values() + value.length > MAX_VALUES_BYTES) {
            throw new PosixException(
                    Reason.ENOSPC,
                    "the attributes of inode " + node.id + ", beside which one of " + value.length
                            + " bytes has no room, take " + others);
        }
    }

    private void put(Node node, byte[] name, byte[] value) {
        synchronized (node) {
            node.attributes = Presence.SOME;
        }
        namespace.putAttribute(node.id, name, value);
    }

    /** Gives a new inode the attributes of another one. */
    public void putAll(Node node, List<InodeState.Extended> all) {
        for (InodeState.Extended each : all) {
            put(node, each.name(), each.value());
        }
    }

    /** Removes an attribute. ENODATA if there is none, except for access control lists, where nothing is to be done. */
    public void remove(Node node, byte[] name) throws IOException {
        boolean list = AccessControlList.isAccessName(name) || AccessControlList.isDefaultName(name);
        if (!drop(node, name) && !list) {
            throw new PosixException(Reason.ENODATA, "attribute");
        }
    }

    /** Removes an attribute. Returns whether it existed. */
    private boolean drop(Node node, byte[] name) throws IOException {
        if (get(node, name) == null) {
            return false;
        }
        namespace.removeAttribute(node.id, name);
        if (!namespace.hasAttributes(node.id)) {
            synchronized (node) {
                node.attributes = Presence.NONE;
            }
        }
        return true;
    }

    /** Returns whether the file has capabilities. Reads the database only for an inode that has attributes. */
    public boolean hasCapability(Node node) throws IOException {
        return get(node, CAPABILITY) != null;
    }

    public void dropCapability(Node node) throws IOException {
        drop(node, CAPABILITY);
    }

    /** Updates the access control list for a new mode, if there is a list. */
    public void changeMode(Node node, int mode) throws IOException {
        byte[] value = get(node, AccessControlList.accessName());
        if (value != null) {
            AccessControlList changed = AccessControlList.parse(value).withMode(mode);
            put(node, AccessControlList.accessName(), changed.toBytes());
        }
    }

    /** The mode and lists that a new file inherits from its directory. */
    public record Inherited(
            int mode,
            @Nullable AccessControlList access,
            @Nullable AccessControlList defaults) {}

    /**
     * Returns what a new file in {@code directory} inherits.
     *
     * @param mode file type and permissions that the caller requested
     * @param umask permissions to be removed; ignored if the directory has a default list
     */
    public Inherited inherit(Node directory, int mode, int umask) throws IOException {
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

    /** Stores the inherited lists of a new file. */
    public void bequeath(Node node, Inherited inherited) {
        if (inherited.access != null) {
            put(node, AccessControlList.accessName(), inherited.access.toBytes());
        }
        if (inherited.defaults != null) {
            put(node, AccessControlList.defaultName(), inherited.defaults.toBytes());
        }
    }
}
