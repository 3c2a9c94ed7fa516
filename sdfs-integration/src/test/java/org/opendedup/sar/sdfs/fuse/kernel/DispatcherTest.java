package org.opendedup.sar.sdfs.fuse.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.sdfs.fuse.FileMode;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.KernelRequests;
import org.opendedup.sar.sdfs.fuse.MemoryFileSystem;
import org.opendedup.sar.sdfs.fuse.NothingStored;
import org.opendedup.sar.sdfs.fuse.Passthrough;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;
import org.opendedup.sar.volume.posix.AttributeChange;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;

/** The dispatcher on requests made by hand, good and bad. */
class DispatcherTest {
    private static final int BUFFER_BYTES = 1 << 20;
    private static final long UNIQUE = 42;
    /** Of the mode in a reply with an entry: the header, what precedes the attributes, what precedes the mode. */
    private static final int MODE_IN_ENTRY = 16 + 40 + 60;

    private static final Agreement NOTHING_TAKEN =
            new Agreement(Protocol.OLDEST_MINOR, 0, KernelRequests.ALL, Passthrough.NOT_WANTED);

    private final ByteBuffer request =
            ByteBuffer.allocateDirect(BUFFER_BYTES + 80).order(ByteOrder.nativeOrder());
    private final ByteBuffer reply =
            ByteBuffer.allocateDirect(BUFFER_BYTES + 16).order(ByteOrder.nativeOrder());
    private final MemoryFileSystem memory = new MemoryFileSystem();
    private static final Agreement ALL_TAKEN =
            new Agreement(Protocol.NEWEST_MINOR, -1, KernelRequests.ALL, Passthrough.NOT_WANTED);
    private final List<Long> interrupted = new ArrayList<>();
    private final ServedRequest served = new ServedRequest(unique -> {});
    private final Dispatcher dispatcher = dispatcher(memory, ALL_TAKEN);

    private Dispatcher dispatcher(FuseFileSystem operations, Agreement agreement) {
        return dispatcher(operations, agreement, new NoKernel());
    }

    private Dispatcher dispatcher(FuseFileSystem operations, Agreement agreement, KernelCache cache) {
        return new Dispatcher(
                operations,
                cache,
                agreement,
                served,
                interrupted::add,
                new NoLine(),
                PassedThroughFiles.none(),
                request,
                reply);
    }

    /** Has nothing cached. */
    private static class NoKernel implements KernelCache {
        @Override
        public void invalidate(long inode) {}

        @Override
        public void answerAfterWriteBack(Asker asker, long inode, long from, LateAnswer answer) {
            throw new AssertionError("no bytes wait to be written back");
        }

        @Override
        public void answerInTurn(Asker asker, LateAnswer answer) {
            throw new AssertionError("no request is long");
        }

        @Override
        public void answerOrDropPages(Asker asker, long inode, long from, LateAnswer answer) {
            throw new AssertionError("no change is made in part");
        }

        @Override
        public void replyInTurn(Asker asker, boolean takesMinutes, LateReply reply) {
            throw new AssertionError("no request is long");
        }
    }

    /** Takes nothing over. */
    private static final class NoLine implements SyncLine {
        @Override
        public boolean takes(Asked asked, Sync sync) {
            return false;
        }

        @Override
        public void serve(Sync sync) throws IOException {
            sync.store();
            sync.check();
        }
    }

    private int send(int opcode, long node, byte[]... arguments) {
        int length = put(opcode, node, arguments);
        return dispatcher.dispatch(length);
    }

    private int put(int opcode, long node, byte[]... arguments) {
        request.clear().position(40);
        for (byte[] argument : arguments) {
            request.put(argument);
        }
        int length = request.position();
        request.clear();
        request.putInt(0, length).putInt(4, opcode).putLong(8, UNIQUE).putLong(16, node);
        return length;
    }

    private static byte[] name(String name) {
        return (name + "\0").getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] ints(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.nativeOrder());
        for (int value : values) {
            bytes.putInt(value);
        }
        return bytes.array();
    }

    private static byte[] longs(long... values) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * values.length).order(ByteOrder.nativeOrder());
        for (long value : values) {
            bytes.putLong(value);
        }
        return bytes.array();
    }

    private void assertErrno(int errno, int length) {
        assertEquals(16, length);
        assertEquals(16, reply.getInt(0));
        assertEquals(-errno, reply.getInt(4));
        assertEquals(UNIQUE, reply.getLong(8));
    }

    @AfterEach
    void closeVolume() throws IOException {
        memory.closeVolume();
    }

    @Test
    void aFileIsMadeFoundAndForgotten() {
        assertEquals(16 + 128, send(Opcode.MKDIR, 1, ints(0755, 0), name("d")));
        long inode = reply.getLong(16);
        assertEquals(16 + 128, send(Opcode.LOOKUP, 1, name("d")));
        assertEquals(inode, reply.getLong(16));
        assertEquals(2, memory.referencesHeld());
        assertEquals(Dispatcher.NO_REPLY, send(Opcode.BATCH_FORGET, 0, ints(1, 0), longs(inode, 2)));
        assertEquals(0, memory.referencesHeld());
    }

    /** The kernel forgets only what it was told of. */
    @Test
    void anInodeThatCannotBeShownIsNotRetained() throws IOException {
        MemoryFileSystem unreadable = new MemoryFileSystem() {
            @Override
            public byte[] extendedAttribute(long inode, byte[] name) throws IOException {
                throw new IOException("a bad block");
            }
        };
        KernelRequests withoutLists = new KernelRequests(true, false, true);
        Dispatcher own =
                dispatcher(unreadable, new Agreement(Protocol.NEWEST_MINOR, -1, withoutLists, Passthrough.NOT_WANTED));
        assertErrno(Errno.EIO, own.dispatch(put(Opcode.MKDIR, 1, ints(0755, 0), name("d"))));
        assertErrno(Errno.EIO, own.dispatch(put(Opcode.LOOKUP, 1, name("d"))));
        assertEquals(0, unreadable.referencesHeld());
        unreadable.closeVolume();
    }

    /** The end of a truncation may be minutes away. */
    @Test
    void whatWaitsForATruncationIsServedByAnotherThread() throws IOException {
        MemoryFileSystem cut = new MemoryFileSystem() {
            @Override
            public boolean isBeingTruncated(long inode) {
                return true;
            }
        };
        List<KernelCache.LateReply> later = new ArrayList<>();
        KernelCache inTurn = new NoKernel() {
            @Override
            public void replyInTurn(Asker asker, boolean takesMinutes, LateReply late) {
                assertEquals(UNIQUE, asker.unique());
                later.add(late);
            }
        };
        Dispatcher own = new Dispatcher(
                cut,
                inTurn,
                ALL_TAKEN,
                served,
                interrupted::add,
                new NoLine(),
                PassedThroughFiles.none(),
                request,
                reply);
        Owner root = new Owner(0, 0);
        long inode = cut.makeNode(1, new byte[] {'f'}, FileMode.REGULAR | 0644, 0, root)
                .inode();
        long handle = cut.open(inode, true, false, root);
        byte[] written = {1, 2, 3, 4, 5, 6, 7, 8};
        int write = put(Opcode.WRITE, inode, longs(handle, 0), ints(8, 0), longs(0), ints(0, 0), written);
        assertEquals(Dispatcher.NO_REPLY, own.dispatch(write));
        int allocate = put(Opcode.FALLOCATE, inode, longs(handle, 0, 10), ints(0, 0));
        assertEquals(Dispatcher.NO_REPLY, own.dispatch(allocate));
        int open = put(Opcode.OPEN, inode, ints(Protocol.O_TRUNC | Protocol.O_WRONLY, 0));
        assertEquals(Dispatcher.NO_REPLY, own.dispatch(open));
        int truncate = put(Opcode.SETATTR, inode, ints(Protocol.SetAttribute.SIZE), new byte[84]);
        assertEquals(Dispatcher.NO_REPLY, own.dispatch(truncate));

        assertEquals(4, later.size());
        List<Long> sizes = new ArrayList<>();
        for (KernelCache.LateReply late : later) {
            ByteBuffer whole = late.get().order(ByteOrder.nativeOrder());
            assertEquals(whole.limit(), whole.getInt(0));
            assertEquals(0, whole.getInt(4));
            assertEquals(UNIQUE, whole.getLong(8));
            sizes.add(cut.attributes(inode).size());
        }
        assertEquals(List.of(8L, 10L, 0L, 0L), sizes);
        cut.closeVolume();
    }

    /** As an NFS server asks for it, to find the way from a handle to the root. */
    @Test
    void theRootHasGenerationNought() {
        send(Opcode.MKDIR, 1, ints(0755, 0), name("d"));
        long inode = reply.getLong(16);
        assertTrue(reply.getLong(24) > 0, "of a folder");
        assertEquals(16 + 128, send(Opcode.LOOKUP, inode, name("..")));
        assertEquals(Protocol.ROOT, reply.getLong(16));
        assertEquals(0, reply.getLong(24));
    }

    @Test
    void aRenameLeavesAWhiteoutIfTheKernelAsksForOne() {
        send(Opcode.MKDIR, 1, ints(0755, 0), name("d"));
        long inode = reply.getLong(16);
        assertEquals(16, send(Opcode.RENAME2, 1, longs(1), ints(1 | 4, 0), name("d"), name("e")));
        assertEquals(16 + 128, send(Opcode.LOOKUP, 1, name("e")));
        assertEquals(inode, reply.getLong(16));
        assertEquals(16 + 128, send(Opcode.LOOKUP, 1, name("d")));
        assertEquals(0020000, reply.getInt(16 + 40 + 60), "mode");
        assertErrno(Errno.EEXIST, send(Opcode.RENAME2, 1, longs(1), ints(1 | 4, 0), name("e"), name("d")));
    }

    @Test
    void aNameThatIsNotThereIsRememberedAsSuch() {
        assertEquals(16 + 128, send(Opcode.LOOKUP, 1, name("none")));
        assertEquals(0, reply.getInt(4));
        assertEquals(0, reply.getLong(16));
        assertEquals(Reply.CACHE_SECONDS, reply.getLong(32));
    }

    @Test
    void whatTheKernelDidNotTakeIsTakenBack() {
        send(Opcode.MKDIR, 1, ints(0755, 0), name("d"));
        dispatcher.takeBack();
        send(Opcode.CREATE, 1, ints(0, 0644, 0, 0), name("f"));
        dispatcher.takeBack();
        assertEquals(0, memory.referencesHeld());
        send(Opcode.READDIRPLUS, 1, longs(0, 0), ints(4096, 0), longs(0), ints(0, 0));
        assertEquals(2, memory.referencesHeld());
        dispatcher.takeBack();
        assertEquals(0, memory.referencesHeld());
    }

    @Test
    void theUmaskIsAppliedOnlyWhereTheKernelLeavesItToTheService() {
        send(Opcode.MKDIR, 1, ints(0777, 022), name("d"));
        assertEquals(040755, reply.getInt(MODE_IN_ENTRY));
        send(Opcode.CREATE, 1, ints(0, 0666, 027, 0), name("f"));
        assertEquals(0100640, reply.getInt(MODE_IN_ENTRY));
        send(Opcode.MKNOD, 1, ints(010666, 0, 077, 0), name("p"));
        assertEquals(010600, reply.getInt(MODE_IN_ENTRY));

        Dispatcher masked = dispatcher(memory, NOTHING_TAKEN);
        masked.dispatch(put(Opcode.MKDIR, 1, ints(0777, 022), name("e")));
        assertEquals(040777, reply.getInt(MODE_IN_ENTRY));
    }

    @Test
    void anAttributesExtensionIsReadOnlyWhereItWasTaken() throws Exception {
        long inode = memory.lookup(1, fileName()).inode();
        byte[] value = {1, 2, 3};
        assertEquals(16, send(Opcode.SETXATTR, inode, ints(3, 0, 0, 0), name("user.a"), value));
        assertArrayEquals(value, memory.extendedAttribute(inode, "user.a".getBytes(StandardCharsets.UTF_8)));

        Dispatcher older = dispatcher(memory, NOTHING_TAKEN);
        assertEquals(16, older.dispatch(put(Opcode.SETXATTR, inode, ints(3, 0), name("user.b"), value)));
        assertArrayEquals(value, memory.extendedAttribute(inode, "user.b".getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void setgidGoesWithAnAccessListWhereTheKernelSaysSo() throws Exception {
        long inode = memory.lookup(1, fileName()).inode();
        memory.change(inode, AttributeChange.ofMode(02755));
        long folder = make(0042755, 0);
        byte[] list = HexFormat.of()
                .parseHex("02000000" + "01000700ffffffff" + "02000500e8030000" + "04000500ffffffff" + "10000500ffffffff"
                        + "20000500ffffffff");
        int bytes = list.length;
        send(Opcode.SETXATTR, inode, ints(bytes, 0, 0, 0), name("system.posix_acl_access"), list);
        assertEquals(0102755, memory.attributes(inode).mode());
        send(Opcode.SETXATTR, folder, ints(bytes, 0, 1, 0), name("system.posix_acl_default"), list);
        assertEquals(0042755, memory.attributes(folder).mode(), "a default list");
        int refused = Protocol.XATTR_CREATE;
        send(Opcode.SETXATTR, inode, ints(bytes, refused, 1, 0), name("system.posix_acl_access"), list);
        assertEquals(0102755, memory.attributes(inode).mode(), "a list that is refused");
        send(Opcode.SETXATTR, inode, ints(bytes, 0, 1, 0), name("system.posix_acl_access"), list);
        assertEquals(0100755, memory.attributes(inode).mode());
    }

    @Test
    void privilegesGoWhereTheKernelAsksForItInDisguise() throws Exception {
        int time = Protocol.SetAttribute.CTIME;
        assertEquals(0100777, modeAfterSetting(0, 1000), "fallocate by a user");
        assertEquals(0106777, modeAfterSetting(0, 0), "fallocate by root");
        assertEquals(0100777, modeAfterSetting(time, 0), "chown(-1, -1)");
        assertEquals(0106777, modeAfterSetting(time | Protocol.SetAttribute.MTIME, 1000), "times written back");
        assertEquals(0100777, modeAfterSetting(Protocol.SetAttribute.UID, 0), "chown");
    }

    @Test
    void setgidWithoutGroupExecuteStaysWithRootAndWithTheGroup() throws Exception {
        int owner = Protocol.SetAttribute.UID | Protocol.SetAttribute.KILL_SUIDGID;
        long inode = make(0106666, 7);
        assertEquals(0102666, modeAfterSetting(inode, owner, 0, 0), "chown by root");
        assertEquals(0102666, modeAfterSetting(make(0106666, 7), owner, 1000, 7), "chown by one of the group");
        assertEquals(0100666, modeAfterSetting(make(0106666, 7), owner, 1000, 1000), "chown by another");
        int size = Protocol.SetAttribute.SIZE | Protocol.SetAttribute.KILL_SUIDGID;
        assertEquals(0102666, modeAfterSetting(make(0106666, 7), size, 1000, 7), "truncate by one of the group");
        assertEquals(0100666, modeAfterSetting(make(0106666, 7), size, 0, 0), "truncate by root without CAP_FSETID");
    }

    /** Its group is that of the folder, whoever made it. Kernels since Linux 6.0 see to this themselves. */
    @Test
    void aNewProgramInASetgidFolderIsSetgidIfItsMakerIsOfTheGroup() throws Exception {
        long folder = make(0042777, 7);
        long plain = make(0040777, 7);
        for (int opcode : new int[] {Opcode.MKNOD, Opcode.CREATE, Opcode.TMPFILE}) {
            assertEquals(0100755, modeOfNew(opcode, folder, 02755, 1000, 1000), "another user");
            assertEquals(0104755, modeOfNew(opcode, folder, 06755, 1000, 1000), "setuid is his own");
            assertEquals(0102755, modeOfNew(opcode, folder, 02755, 1000, 7), "one of the group");
            assertEquals(0102755, modeOfNew(opcode, folder, 02755, 0, 0), "root");
            assertEquals(0102645, modeOfNew(opcode, folder, 02645, 1000, 1000), "no program for its group");
            assertEquals(0102755, modeOfNew(opcode, plain, 02755, 1000, 1000), "with his own group");
        }
    }

    private int modeOfNew(int opcode, long folder, int mode, int uid, int gid) throws IOException {
        byte[] arguments = opcode == Opcode.MKNOD ? ints(FileMode.REGULAR | mode, 0, 0, 0) : ints(2, mode, 0, 0);
        int length = put(opcode, folder, arguments, name(opcode == Opcode.TMPFILE ? "/" : "n" + memory.inodes()));
        request.putInt(24, uid).putInt(28, gid);
        assertEquals(16 + 128 + (opcode == Opcode.MKNOD ? 0 : 16), dispatcher.dispatch(length));
        return reply.getInt(MODE_IN_ENTRY);
    }

    @Test
    void aFileThatIsNotCutOffKeepsItsPrivileges() throws Exception {
        long inode = make(0106777, 0);
        MemoryFileSystem full = new MemoryFileSystem() {
            @Override
            public long open(long opened, boolean writable, boolean truncate, Owner caller) throws IOException {
                throw new PosixException(PosixException.Reason.ENFILE, "no handle is left");
            }

            @Override
            public Attributes attributes(long asked) throws IOException {
                return memory.attributes(asked);
            }

            @Override
            public Attributes change(long changed, AttributeChange change) throws IOException {
                if (change.size() != null) {
                    throw new PosixException(PosixException.Reason.EFBIG, "beyond the end");
                }
                return memory.change(changed, change);
            }
        };
        byte[] writing = ints(Protocol.O_TRUNC | 1, Protocol.OPEN_KILL_SUIDGID);
        int open = put(Opcode.OPEN, inode, writing);
        assertErrno(Errno.ENFILE, dispatcher(full, ALL_TAKEN).dispatch(open));
        assertEquals(0106777, memory.attributes(inode).mode());
        int size = Protocol.SetAttribute.SIZE | Protocol.SetAttribute.KILL_SUIDGID;
        int truncate = put(Opcode.SETATTR, inode, ints(size), new byte[84]);
        assertErrno(Errno.EFBIG, dispatcher(full, ALL_TAKEN).dispatch(truncate));
        assertEquals(0106777, memory.attributes(inode).mode());
        full.closeVolume();
        // The control: it does not keep them when it is cut off.
        assertEquals(32, send(Opcode.OPEN, inode, writing));
        assertEquals(0100777, memory.attributes(inode).mode());
    }

    /** Reading {@code /proc} costs more than most requests. */
    @Test
    void theGroupsOfACallerAreAskedForOnlyWhereTheyDecide() throws Exception {
        List<Integer> asked = new ArrayList<>();
        Privileges.Groups groups = (thread, group) -> {
            asked.add(group);
            return true;
        };
        put(Opcode.WRITE, 1);
        Request of = new Request(request);
        of.begin(40);
        Privileges privileges = new Privileges(memory, new NoKernel(), groups, of);
        for (int mode : new int[] {0100644, 0104755, 0106755, 0104644}) {
            long inode = make(mode, 7);
            privileges.dropForWriting(inode);
            assertEquals(mode & 0100777, memory.attributes(inode).mode());
        }
        assertEquals(List.of(), asked);
        long inode = make(0106644, 7);
        privileges.dropForWriting(inode);
        assertEquals(0102644, memory.attributes(inode).mode());
        assertEquals(List.of(7), asked);
    }

    @Test
    void changingNoOwnerTakesPrivilegesOfWhatIsNoDirectoryIfTheCallerMayChangeTheMode() throws Exception {
        assertEquals(0010777, modeAfterSetting(make(0016777, 0), 0, 0, 0), "root, of a fifo");
        assertEquals(0046777, modeAfterSetting(make(0046777, 0), 0, 0, 0), "root, of a directory");
        int time = Protocol.SetAttribute.CTIME;
        long inode = make(0106777, 0);
        request.putInt(28, 1000);
        int length = put(Opcode.SETATTR, inode, ints(time), new byte[84]);
        request.putInt(24, 1000);
        assertErrno(Errno.EPERM, dispatcher.dispatch(length));
        assertEquals(0106777, memory.attributes(inode).mode());
        assertEquals(0100755, modeAfterSetting(make(0100755, 0), time, 1000, 1000), "nothing to take");
    }

    /** The mode of a file of all bits after a SETATTR of these fields. */
    private int modeAfterSetting(int fields, int uid) throws Exception {
        return modeAfterSetting(make(0106777, 0), fields, uid, 0);
    }

    private int modeAfterSetting(long inode, int fields, int uid, int gid) throws Exception {
        int length = put(Opcode.SETATTR, inode, ints(fields), new byte[84]);
        request.putInt(24, uid).putInt(28, gid);
        assertEquals(16 + 104, dispatcher.dispatch(length));
        return memory.attributes(inode).mode();
    }

    /** Makes what {@code mode} says, owned by root and a group. */
    private long make(int mode, int gid) throws Exception {
        byte[] name = {(byte) ('a' + memory.inodes())};
        Owner owner = new Owner(0, gid);
        boolean isDirectory = FileMode.isDirectory(mode);
        long inode = (isDirectory
                        ? memory.makeDirectory(1, name, mode, owner)
                        : memory.makeNode(1, name, mode, 0, owner))
                .inode();
        memory.change(inode, AttributeChange.ofMode(mode & FileMode.PERMISSIONS));
        return inode;
    }

    @Test
    void trustedAttributesAreListedToRootAlone() throws Exception {
        long inode = memory.lookup(1, fileName()).inode();
        for (String name : new String[] {"trusted.t", "user.u"}) {
            memory.setExtendedAttribute(
                    inode, name.getBytes(StandardCharsets.UTF_8), new byte[0], SetMode.CREATE_OR_REPLACE);
        }
        assertEquals(16 + 10 + 7, send(Opcode.LISTXATTR, inode, ints(1000, 0)));
        int length = put(Opcode.LISTXATTR, inode, ints(1000, 0));
        request.putInt(24, 1000);
        assertEquals(16 + 7, dispatcher.dispatch(length));
    }

    @Test
    void statxTellsTheBirthTime() throws Exception {
        long inode = memory.lookup(1, fileName()).inode();
        assertEquals(16 + 288, send(Opcode.STATX, inode, ints(0, 0), longs(0), ints(0, 0xfff)));
        int stat = 16 + 32;
        assertEquals(0xfff, reply.getInt(stat));
        assertEquals((short) 0100644, reply.getShort(stat + 28));
        assertEquals(inode, reply.getLong(stat + 32));
        assertEquals(memory.attributes(inode).createdNs() / 1_000_000_000, reply.getLong(stat + 80));
    }

    @Test
    void aFileWithoutANameIsOpened() throws IOException {
        assertEquals(16 + 128 + 16, send(Opcode.TMPFILE, 1, ints(2, 0600, 0, 0), name("/")));
        assertEquals(0, reply.getInt(16 + 40 + 64), "no links");
        assertEquals(1, memory.referencesHeld());
        dispatcher.takeBack();
        assertEquals(0, memory.referencesHeld());
        assertEquals(1, memory.inodes(), "the root alone");
    }

    @Test
    void readsMayBeAbandonedAndChangesMayNot() {
        send(Opcode.MKDIR, 1, ints(0755, 0), name("d"));
        assertEquals(ServedRequest.NONE, served.unique());
        assertTrue(served.end());
        send(Opcode.LOOKUP, 1, name("d"));
        assertEquals(UNIQUE, served.unique());
        served.abandon(UNIQUE);
        assertFalse(served.end());
        assertEquals(Dispatcher.NO_REPLY, send(Opcode.INTERRUPT, 0, longs(UNIQUE)));
        assertEquals(List.of(UNIQUE), interrupted);
    }

    @Test
    void aListingStopsWhereTheRoomEnds() {
        for (int i = 0; i < 10; i++) {
            send(Opcode.MKDIR, 1, ints(0755, 0), name("directory-" + i));
        }
        int entry = Reply.entryBytes(11, false);
        int dots = 2 * Reply.entryBytes(1, false);
        int length = send(Opcode.READDIR, 1, longs(0, 0), ints(dots + 3 * entry + 7, 0), longs(0), ints(0, 0));
        assertEquals(16 + dots + 3 * entry, length);
    }

    @Test
    void truncatedRequestsAreRefused() {
        byte[] arguments = new byte[88];
        for (int opcode = 0; opcode <= 52; opcode++) {
            for (int bytes = 0; bytes < arguments.length; bytes += 4) {
                int length = send(opcode, 1, Arrays.copyOf(arguments, bytes));
                assertAnsweredOnce(opcode, length);
            }
        }
        assertErrno(Errno.EIO, send(Opcode.READ, 1, longs(0, 0)));
        assertErrno(Errno.EIO, send(Opcode.SETATTR, 1, new byte[80]));
    }

    @Test
    void aMessageShorterThanItsHeaderGetsNoReply() {
        for (int length = 0; length < 40; length++) {
            assertEquals(Dispatcher.NO_REPLY, dispatcher.dispatch(length));
        }
    }

    @Test
    void aHeaderThatLiesAboutItsLengthIsRefused() {
        int length = put(Opcode.LOOKUP, 1, name("d"));
        request.putInt(0, length + 1);
        assertErrno(Errno.EIO, dispatcher.dispatch(length));
        request.putInt(0, -1);
        assertErrno(Errno.EIO, dispatcher.dispatch(length));
    }

    @Test
    void lengthsBeyondTheMessageAreRefused() throws Exception {
        long handle = openFile();
        for (int size : new int[] {9, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
            assertErrno(
                    Errno.EIO,
                    send(Opcode.WRITE, 2, longs(handle, 0), ints(size, 0), longs(0), ints(0, 0), new byte[8]));
        }
        assertErrno(Errno.EIO, send(Opcode.READ, 2, longs(handle, 0), ints(BUFFER_BYTES + 1, 0), longs(0), ints(0, 0)));
        assertErrno(Errno.EIO, send(Opcode.READ, 2, longs(handle, -1), ints(4096, 0), longs(0), ints(0, 0)));
        assertErrno(Errno.E2BIG, send(Opcode.SETXATTR, 2, ints(65537, 0, 0, 0), name("user.a"), new byte[100]));
        assertErrno(Errno.EIO, send(Opcode.SETXATTR, 2, ints(101, 0, 0, 0), name("user.a"), new byte[100]));
        assertEquals(Dispatcher.NO_REPLY, send(Opcode.BATCH_FORGET, 0, ints(Integer.MAX_VALUE, 0)));
        assertEquals(Dispatcher.NO_REPLY, send(Opcode.FORGET, 2, longs(-1)));
        assertEquals(0, memory.attributes(2).size());
    }

    @Test
    void badNamesAreRefused() {
        assertErrno(Errno.EIO, send(Opcode.LOOKUP, 1, "without end".getBytes(StandardCharsets.UTF_8)));
        assertErrno(Errno.EIO, send(Opcode.LOOKUP, 1, name("")));
        assertErrno(Errno.EIO, send(Opcode.LOOKUP, 1, name("a/b")));
        assertErrno(Errno.ENAMETOOLONG, send(Opcode.LOOKUP, 1, name("x".repeat(256))));
        assertErrno(Errno.EIO, send(Opcode.RENAME, 1, longs(1), name("only one")));
    }

    @Test
    void unknownRequestsAndFlagsAreRefused() {
        assertErrno(Errno.ENOSYS, send(4711, 1));
        assertErrno(Errno.ENOSYS, send(Opcode.OPENDIR, 1, ints(0, 0)));
        assertErrno(Errno.ENOTTY, send(Opcode.IOCTL, 1, new byte[32]));
        assertErrno(Errno.EINVAL, send(Opcode.RENAME2, 1, longs(1), ints(2 | 4, 0), name("a"), name("b")));
        assertErrno(Errno.EINVAL, send(Opcode.RENAME2, 1, longs(1), ints(8, 0), name("a"), name("b")));
        assertErrno(Errno.EBADF, send(Opcode.READ, 2, longs(99, 0), ints(4096, 0), longs(0), ints(0, 0)));
    }

    @Test
    void randomRequestsAreAnsweredAndNeverThrow() {
        long seed = TestSeed.next();
        Random random = new Random(seed);
        Dispatcher nothing = dispatcher(new NothingStored(1 << 20), ALL_TAKEN);
        for (int i = 0; i < 20_000; i++) {
            byte[] arguments = new byte[random.nextInt(200)];
            random.nextBytes(arguments);
            if (random.nextBoolean()) {
                // Small numbers reach further than random ones.
                for (int at = 0; at < arguments.length; at++) {
                    arguments[at] = at % 4 == 0 ? (byte) random.nextInt(4) : 0;
                }
            }
            int opcode = random.nextInt(54);
            int length = put(opcode, random.nextInt(4), arguments);
            // Behind the message stands what an earlier one left: it must not be read.
            assertAnsweredOnce(opcode, nothing.dispatch(length));
            nothing.takeBack();
        }
    }

    private void assertAnsweredOnce(int opcode, int length) {
        boolean silent = opcode == Opcode.FORGET || opcode == Opcode.BATCH_FORGET || opcode == Opcode.INTERRUPT;
        if (silent) {
            assertEquals(Dispatcher.NO_REPLY, length);
        } else {
            assertTrue(length >= 16 && length <= reply.capacity(), opcode + ": " + length);
            assertEquals(length, reply.getInt(0));
            assertEquals(UNIQUE, reply.getLong(8));
        }
    }

    @Test
    void rangesAreAllocatedZeroedSoughtAndCopied() throws Exception {
        long handle = openFile();
        send(Opcode.WRITE, 2, longs(handle, 0), ints(8, 0), longs(0), ints(0, 0), new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        assertEquals(16, send(Opcode.FALLOCATE, 2, longs(handle, 2, 3), ints(3, 0)));
        assertEquals(16, send(Opcode.FALLOCATE, 2, longs(handle, 7, 3), ints(16, 0)));
        assertEquals(10, memory.attributes(2).size());
        assertErrno(Errno.EOPNOTSUPP, send(Opcode.FALLOCATE, 2, longs(handle, 2, 3), ints(2, 0)));
        assertErrno(Errno.EOPNOTSUPP, send(Opcode.FALLOCATE, 2, longs(handle, 0, 4096), ints(8, 0)));

        assertEquals(24, send(Opcode.COPY_FILE_RANGE, 2, longs(handle, 0, 2, handle, 20, 100, 0)));
        assertEquals(10, reply.getInt(16));
        assertEquals(24, send(Opcode.COPY_FILE_RANGE_64, 2, longs(handle, 0, 2, handle, 30, 5, 0)));
        assertEquals(5, reply.getLong(16));
        assertErrno(Errno.EINVAL, send(Opcode.COPY_FILE_RANGE, 2, longs(handle, 0, 2, handle, 20, 100, 1)));

        memory.close(handle);
        long reader = memory.open(2, false, false, new Owner(0, 0));
        assertEquals(24, send(Opcode.LSEEK, 2, longs(reader, 3), ints(4, 0)));
        assertEquals(35, reply.getLong(16));
        assertErrno(Errno.ENXIO, send(Opcode.LSEEK, 2, longs(reader, 35), ints(3, 0)));
        assertErrno(Errno.EINVAL, send(Opcode.LSEEK, 2, longs(reader, 3), ints(2, 0)));

        ByteBuffer read = ByteBuffer.allocate(35);
        memory.read(reader, 0, read);
        byte[] expected = {1, 2, 0, 0, 0, 6, 7, 0, 0, 0};
        assertArrayEquals(expected, Arrays.copyOf(read.array(), 10));
        assertArrayEquals(expected, Arrays.copyOfRange(read.array(), 20, 30));
        assertArrayEquals(Arrays.copyOf(expected, 5), Arrays.copyOfRange(read.array(), 30, 35));
    }

    /** The kernel drops its pages of a range by itself only if all of it is zeroed. */
    @Test
    void aRangeThatMayBeZeroedInPartIsTakenOutOfTheKernelsCache() throws Exception {
        List<String> answers = new ArrayList<>();
        KernelCache cache = new NoKernel() {
            @Override
            public void answerOrDropPages(Asker asker, long inode, long from, LateAnswer answer) {
                answers.add(asker.unique() + ": inode " + inode + " from " + from + ", answer " + answer.get());
            }
        };
        MemoryFileSystem damaged = new MemoryFileSystem() {
            @Override
            public void zero(long handle, long offset, long length, boolean keepSize) throws IOException {
                if (length == 1) {
                    throw new PosixException(PosixException.Reason.EROFS, "a commit has failed");
                }
                throw new IOException("a page of the recipe cannot be read");
            }
        };
        Dispatcher failing = dispatcher(damaged, ALL_TAKEN, cache);
        for (long length : new long[] {1, 4096, 1L << 30}) {
            int sent = put(Opcode.FALLOCATE, 2, longs(7, 4096, length), ints(3, 0));
            assertEquals(Dispatcher.NO_REPLY, failing.dispatch(sent));
        }
        String answer = UNIQUE + ": inode 2 from 4096, answer -";
        assertEquals(List.of(answer + Errno.EROFS, answer + Errno.EIO, answer + Errno.EIO), answers);
        damaged.closeVolume();
    }

    @Test
    void aRangeThatAnotherThanRootChangesLosesTheFilesSetuidBit() throws Exception {
        long handle = openFile();
        memory.change(2, AttributeChange.ofMode(04755));
        put(Opcode.FALLOCATE, 2, longs(handle, 0, 10), ints(0, 0));
        int length = request.getInt(0);
        assertEquals(16, dispatcher.dispatch(length));
        assertEquals(0104755, memory.attributes(2).mode());
        request.putInt(24, 1000);
        assertEquals(16, dispatcher.dispatch(length));
        assertEquals(0100755, memory.attributes(2).mode());
    }

    private long openFile() throws Exception {
        byte[] name = "f".getBytes(StandardCharsets.UTF_8);
        return memory.create(1, name, 0100644, true, new Owner(0, 0)).handle();
    }

    /** Makes a file, and returns its name. */
    private byte[] fileName() throws Exception {
        openFile();
        return "f".getBytes(StandardCharsets.UTF_8);
    }
}
