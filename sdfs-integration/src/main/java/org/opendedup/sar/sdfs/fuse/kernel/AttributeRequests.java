package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.sdfs.fuse.AccessLists;
import org.opendedup.sar.sdfs.fuse.ExtendedAttributeName;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.QuotaAttribute;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.InitFlag;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.SetAttribute;
import org.opendedup.sar.volume.parts.SpaceUse;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.SetMode;

/**
 * Requests for attributes and extended attributes of inodes, and for the space of the volume. Each method serves the
 * current request and returns 0 or the number of an expected error.
 */
final class AttributeRequests {
    private final Exchange exchange;
    private final FuseFileSystem operations;
    private final Request request;
    private final Reply reply;
    private final Agreement agreement;
    private final Privileges privileges;

    AttributeRequests(Exchange exchange, Privileges privileges) {
        this.exchange = exchange;
        this.operations = exchange.operations();
        this.request = exchange.request();
        this.reply = exchange.reply();
        this.agreement = exchange.agreement();
        this.privileges = privileges;
    }

    /** Arguments, {@code fuse_getattr_in}: 4 bytes of flags, 4 unused, handle. */
    int getAttributes() throws IOException {
        boolean isOpen = (request.takeInt() & Protocol.GETATTR_HANDLE) != 0;
        request.skip(4);
        long handle = request.takeLong();
        Attributes found =
                isOpen ? operations.attributes(request.node(), handle) : operations.attributes(request.node());
        reply.putAttributesAlone(exchange.shown(found));
        return 0;
    }

    /** Replies with the attributes and the birth time; all fields, whatever the request selects. */
    int getExtendedStatus() throws IOException {
        reply.putExtendedAttributes(exchange.shown(operations.attributes(request.node())));
        return 0;
    }

    int setAttributes() throws IOException {
        SetAttributeArguments arguments = SetAttributeArguments.take(request);
        Long size = arguments.change().size();
        if (size != null && exchange.isCutInTurn(size)) {
            return Exchange.ANSWERED_LATER;
        }
        AttributeChange change = withHiddenPermissions(arguments, privileges.apply(arguments));
        reply.putAttributesAlone(exchange.shown(operations.change(request.node(), change, request.uid())));
        return 0;
    }

    private AttributeChange withHiddenPermissions(SetAttributeArguments arguments, AttributeChange change)
            throws IOException {
        AccessLists unenforced = exchange.unenforced();
        Integer mode = change.mode();
        return unenforced == null || mode == null || !arguments.has(SetAttribute.MODE)
                ? change
                : change.withMode(unenforced.toSet(request.node(), mode));
    }

    int space() throws IOException {
        SpaceUse space = operations.space(request.node());
        long freeFiles = space.freeFiles(Protocol.PAGE_BYTES);
        reply.putLong(space.capacityBytes() / Protocol.PAGE_BYTES);
        reply.putLong(space.freeBytes() / Protocol.PAGE_BYTES);
        reply.putLong(space.availableBytes() / Protocol.PAGE_BYTES);
        reply.putLong(space.files() + freeFiles);
        reply.putLong(freeFiles);
        reply.putInt(Protocol.PAGE_BYTES);
        reply.putInt(Protocol.MAX_NAME_BYTES);
        reply.putInt(Protocol.PAGE_BYTES);
        reply.putZeros(28);
        return 0;
    }

    int setExtendedAttribute() throws IOException {
        if (!agreement.requests().extendedAttributes()) {
            return Errno.ENOSYS;
        }
        int size = request.takeInt();
        SetMode mode = setMode(request.takeInt());
        int more = 0;
        if (agreement.has(InitFlag.SETXATTR_EXT)) {
            more = request.takeInt();
            request.skip(4);
        }
        byte[] name = request.takeString(Protocol.MAX_NAME_BYTES);
        if (size < 0 || size > Protocol.MAX_XATTR_BYTES) {
            return Errno.E2BIG;
        }
        if (isRefused(name)) {
            return Errno.EOPNOTSUPP;
        }
        byte[] value = request.takeBytes(size);
        if (ExtendedAttributeName.pins(name, value) && !isOwnerOrRoot()) {
            return Errno.EPERM;
        }
        operations.setExtendedAttribute(request.node(), name, value, mode);
        // The kernel also sets this flag for default lists, which do not change the permissions of the directory
        // itself.
        if ((more & Protocol.SETXATTR_ACL_KILL_SGID) != 0 && ExtendedAttributeName.isOwnAccessList(name)) {
            privileges.dropSetGid(request.node());
        }
        return 0;
    }

    private boolean isOwnerOrRoot() throws IOException {
        int user = request.uid();
        return user == 0 || user == operations.attributes(request.node()).uid();
    }

    private static SetMode setMode(int flags) throws PosixException {
        return switch (flags) {
            case 0 -> SetMode.CREATE_OR_REPLACE;
            case Protocol.XATTR_CREATE -> SetMode.CREATE;
            case Protocol.XATTR_REPLACE -> SetMode.REPLACE;
            case Protocol.XATTR_CREATE | Protocol.XATTR_REPLACE -> SetMode.CREATE_AND_REPLACE;
            default -> throw new PosixException(PosixException.Reason.EINVAL, "setxattr with flags " + flags);
        };
    }

    /** Returns whether the name is that of an access list, on a mount without them. */
    private boolean isRefused(byte[] name) {
        return !agreement.requests().accessLists() && ExtendedAttributeName.isAccessList(name);
    }

    /**
     * Gets the value of an extended attribute. A missing {@code security.selinux} gives EOPNOTSUPP: {@code ls -l} then
     * requests no other file's label. Programs that copy labels treat it as ENODATA.
     */
    int getExtendedAttribute() throws IOException {
        if (!agreement.requests().extendedAttributes()) {
            return Errno.ENOSYS;
        }
        int room = request.takeInt();
        request.skip(4);
        byte[] name = request.takeString(Protocol.MAX_NAME_BYTES);
        if (isRefused(name)) {
            return Errno.EOPNOTSUPP;
        }
        if (QuotaAttribute.is(name)) {
            return sized(ownQuotas(), room);
        }
        byte @Nullable [] value = operations.extendedAttribute(request.node(), name);
        if (value == null) {
            return ExtendedAttributeName.isSelinuxLabel(name) ? Errno.EOPNOTSUPP : Errno.ENODATA;
        }
        return sized(value, room);
    }

    /** Returns the quotas of the caller, of his group, and of the group of the inode if he is in it. */
    private byte[] ownQuotas() throws IOException {
        int group = operations.attributes(request.node()).gid();
        Set<Integer> groups = new LinkedHashSet<>();
        groups.add(request.caller().gid());
        if (privileges.isOfGroup(group)) {
            groups.add(group);
        }
        return operations.quotas(request.node(), request.uid(), groups);
    }

    int listExtendedAttributes() throws IOException {
        if (!agreement.requests().extendedAttributes()) {
            return Errno.ENOSYS;
        }
        int room = request.takeInt();
        List<byte[]> names = operations.extendedAttributes(request.node()).stream()
                .filter(name -> !isRefused(name))
                .toList();
        return sized(ExtendedAttributeName.listFor(request.uid(), names), room);
    }

    /** Replies with the value, or with its size if the caller's buffer size is 0. */
    private int sized(byte[] value, int room) {
        if (room == 0) {
            reply.putInt(value.length);
            reply.putInt(0);
            return 0;
        }
        if (value.length > Protocol.MAX_XATTR_BYTES) {
            return Errno.E2BIG;
        }
        if (Integer.compareUnsigned(value.length, room) > 0) {
            return Errno.ERANGE;
        }
        reply.putBytes(value);
        return 0;
    }

    int removeExtendedAttribute() throws IOException {
        if (!agreement.requests().extendedAttributes()) {
            return Errno.ENOSYS;
        }
        byte[] name = request.takeString(Protocol.MAX_NAME_BYTES);
        if (isRefused(name)) {
            return Errno.EOPNOTSUPP;
        }
        operations.removeExtendedAttribute(request.node(), name);
        return 0;
    }
}
