package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.container.format.Compression;
import org.opendedup.sar.container.format.Compressor;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.ContainerIdentity;
import org.opendedup.sar.container.format.ContainerWriting;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.HookedDirectory;
import org.opendedup.sar.io.HookedDirectory.Call;

/**
 * The containers of one pack are written one after another, and fail, wait and go on together. The test runs the tasks
 * that compress frames itself, in any order.
 */
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class PackTest {
    private static final int FRAME_BYTES = 4096;
    private static final long NUMBER = 1000;

    private final CrashDirectory disk = new CrashDirectory(TestSeed.next());
    private final HookedDirectory hooked = new HookedDirectory(disk);
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final InFlightBudget budget = new InFlightBudget(1 << 20);
    private boolean refusesTasks;
    private final FrameEncoder encoder = new FrameEncoder(
            FRAME_BYTES, new Compressor(new Compression(Compression.Codec.NONE, 0, FRAME_BYTES)), this::submit, budget);
    private final Pack pack;

    PackTest() throws IOException {
        pack = Pack.create(hooked, NUMBER);
    }

    private void submit(Runnable task) {
        if (refusesTasks) {
            throw new RejectedExecutionException("made by the test");
        }
        tasks.add(task);
    }

    private void compressAll() {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    private OpenContainer container(long id) {
        return new OpenContainer(
                new ContainerWriting(ContainerCipher.NONE, new ContainerIdentity(id, 7, 1)),
                hooked,
                encoder,
                pack,
                new CompressionTrial());
    }

    /** Appends chunks that are a frame each; their frames are compressed by the next {@link #compressAll}. */
    private static void append(OpenContainer container, int frames) throws IOException {
        for (int i = 0; i < frames; i++) {
            byte[] chunk = new byte[FRAME_BYTES];
            Arrays.fill(chunk, (byte) container.container());
            container.append(chunk, 0, chunk.length, new byte[32], 0);
        }
    }

    private OpenContainer complete(long id, int frames) throws IOException {
        OpenContainer container = container(id);
        append(container, frames);
        container.end();
        return container;
    }

    private void makeDurable(OpenContainer... containers) throws IOException {
        pack.force();
        hooked.sync();
        pack.nameIsDurable();
        for (OpenContainer container : containers) {
            container.nameIsDurable();
        }
    }

    private static IOException brokenDisk() {
        return new IOException("Input/output error");
    }

    private static NoSpaceException fullDisk() {
        return new NoSpaceException("No space left on device");
    }

    private static PackPlace place(OpenContainer container) {
        return Objects.requireNonNull(container.place());
    }

    private static StoredContainer entry(OpenContainer container) {
        return Objects.requireNonNull(container.unrecorded());
    }

    /** Returns the bytes of a container that a crash leaves. */
    private byte[] bytes(StoredContainer entry) throws IOException {
        byte[] file = disk.crash(1).contents(PackFormat.fileName(entry.pack()));
        return Arrays.copyOfRange(file, (int) entry.offset(), (int) (entry.offset() + entry.bytes()));
    }

    private void assertSealed(OpenContainer container, int frames) throws IOException {
        StoredContainer entry = entry(container);
        assertEquals(StoredContainer.State.SEALED, entry.state());
        assertEquals(frames, entry.slots());
        assertEquals((long) frames * FRAME_BYTES, entry.rawBytes());
        byte[] bytes = bytes(entry);
        ContainerFormat.readHeader(
                Arrays.copyOf(bytes, ContainerFormat.HEADER_BYTES),
                container.container(),
                ContainerCipher.NONE,
                container.toString());
        ContainerFormat.readFooter(
                Arrays.copyOfRange(bytes, bytes.length - ContainerFormat.FOOTER_BYTES, bytes.length),
                container.container(),
                bytes.length,
                ContainerCipher.NONE,
                container.toString());
    }

    @Test
    void containersLieOneAfterAnotherInTheirOrder() throws IOException {
        OpenContainer[] containers = {complete(1, 3), complete(2, 1), complete(3, 5)};
        compressAll();
        makeDurable(containers);
        long end = PackFormat.FIRST_CONTAINER;
        for (OpenContainer each : containers) {
            StoredContainer entry = entry(each);
            assertEquals(NUMBER, entry.pack());
            assertEquals(PackFormat.align(end), entry.offset());
            end = entry.offset() + entry.bytes();
        }
        assertSealed(containers[0], 3);
        assertSealed(containers[1], 1);
        assertSealed(containers[2], 5);
        byte[] file = disk.contents(PackFormat.fileName(NUMBER));
        assertEquals(end, file.length);
        PackFormat.checkHeader(file, NUMBER);
    }

    @Test
    void aContainerWaitsUntilTheOneBeforeIsComplete() throws IOException {
        OpenContainer first = container(1);
        OpenContainer second = container(2);
        append(first, 1);
        append(second, 2);
        Runnable firstFrame = tasks.remove();
        compressAll();
        assertNull(second.place(), "the frame before is not compressed");
        assertEquals(PackFormat.FIRST_CONTAINER, disk.length(PackFormat.fileName(NUMBER)));
        assertEquals(
                FRAME_BYTES,
                Objects.requireNonNull(second.frames().frameInMemory(1)).data().length);
        firstFrame.run();
        assertEquals(PackFormat.FIRST_CONTAINER, place(first).offset());
        assertNull(second.place(), "the container before is not ended");
        append(first, 1);
        first.end();
        assertNull(second.place(), "the last frame of the container before is not compressed");
        compressAll();
        second.frames().awaitWritten();
        assertEquals(
                PackFormat.align(PackFormat.FIRST_CONTAINER + first.fileBytes()),
                place(second).offset());
        assertEquals(2, second.frames().table().frames());
        assertNull(second.frames().frameInMemory(1));
    }

    @Test
    void anEmptyContainerDoesNotHoldTheNextOneUp() throws IOException {
        OpenContainer empty = container(1);
        OpenContainer second = complete(2, 1);
        compressAll();
        assertNull(second.place());
        empty.end();
        makeDurable(empty, second);
        assertTrue(empty.isEmpty());
        assertNull(empty.unrecorded());
        assertSealed(second, 1);
        assertEquals(PackFormat.FIRST_CONTAINER, place(second).offset());
    }

    /** A frame of it could not be compressed. What it had written stays. */
    @Test
    void aContainerThatFailsForGoodDoesNotHoldTheNextOneUp() throws IOException {
        OpenContainer first = container(1);
        append(first, 1);
        OpenContainer second = container(2);
        append(second, 2);
        compressAll();
        assertNull(second.place());
        refusesTasks = true;
        append(first, 1);
        refusesTasks = false;
        assertTrue(first.frames().isFailed());
        assertFalse(second.frames().isFailed());
        second.frames().awaitWritten();
        second.end();
        makeDurable(first, second);
        assertSealed(second, 2);
        assertNotNull(first.frames().reportLoss());
        assertTrue(first.frames().isLost(1));
        assertFalse(first.frames().isLost(0));
        assertEquals(1, entry(first).slots());
        assertTrue(pack.accepts(3));
    }

    /** As above, while later frames of the failed one are still with the workers. */
    @Test
    void framesOfAFailedContainerAreDroppedWhenTheyAreCompressed() throws IOException {
        OpenContainer first = container(1);
        append(first, 2);
        refusesTasks = true;
        append(first, 1);
        refusesTasks = false;
        OpenContainer second = container(2);
        append(second, 1);
        Runnable last = tasks.removeLast();
        last.run();
        assertNull(second.place(), "two frames of the first may still be compressed");
        compressAll();
        second.frames().awaitWritten();
        assertEquals(1, second.frames().table().frames());
        assertNull(first.place());
    }

    @Test
    void aFailedForceSuspendsAllThatIsNotSealedAndEachIsRevivedInAPackOfItsOwn() throws IOException {
        OpenContainer sealed = complete(1, 2);
        compressAll();
        makeDurable(sealed);
        OpenContainer completed = complete(2, 3);
        OpenContainer filling = container(3);
        append(filling, 1);
        compressAll();
        append(filling, 1);
        filling.append(new byte[10], 0, 10, new byte[32], 0);
        hooked.fail(Call.FORCE, brokenDisk());
        pack.force();
        hooked.pass();
        assertFalse(sealed.frames().isFailed());
        assertNull(sealed.frames().reportLoss());
        List<OpenContainer> suspended = List.of(completed, filling);
        for (OpenContainer each : suspended) {
            assertTrue(each.frames().isFailed());
            assertNotNull(each.frames().reportLoss());
            assertTrue(each.frames().isLost(0));
            assertNull(each.unrecorded());
            assertThrows(IOException.class, () -> append(each, 1));
        }
        assertFalse(pack.accepts(4));
        pack.force();
        assertTrue(completed.frames().isLost(0), "a later force changes nothing");

        long number = NUMBER;
        for (OpenContainer each : suspended) {
            Pack fresh = Pack.create(hooked, ++number);
            assertTrue(each.revive(fresh));
            assertFalse(each.revive(fresh), "nothing is left to revive");
            each.flush();
            compressAll();
            fresh.force();
            each.nameIsDurable();
            assertEquals(number, entry(each).pack());
            assertEquals(PackFormat.FIRST_CONTAINER, entry(each).offset());
            assertNull(each.frames().reportLoss());
        }
        assertSealed(sealed, 2);
        assertEquals(NUMBER, entry(sealed).pack());
        assertSealed(completed, 3);
        assertEquals(3, entry(filling).slots());
        assertEquals(StoredContainer.State.SEALED, entry(filling).state());
        budget.awaitRoom();
    }

    /** Otherwise they would neither be durable nor be reported. */
    @Test
    void whatIsInTheFileIsForcedAlsoAfterAFailedAppend() throws IOException {
        OpenContainer first = complete(1, 2);
        compressAll();
        OpenContainer second = container(2);
        append(second, 1);
        compressAll();
        append(second, 1);
        hooked.fail(Call.APPEND, brokenDisk());
        compressAll();
        hooked.pass();
        assertTrue(first.frames().isFailed());
        assertTrue(second.frames().isFailed());
        makeDurable(first, second);
        assertEquals(2, entry(first).slots());
        assertEquals(1, entry(second).slots());
        assertFalse(first.frames().isLost(1));
        assertFalse(second.frames().isLost(0));
        assertTrue(second.frames().isLost(1));
        assertNotNull(first.frames().reportLoss(), "the first must be written again to be sealed");
        assertEquals(StoredContainer.State.OPEN, entry(first).state());
    }

    /** The system reports a failed force once; a second force at the same time succeeds. */
    @Test
    void aForceDuringAFailedOneMakesNothingDurable() throws Exception {
        OpenContainer first = complete(1, 2);
        compressAll();
        AtomicInteger forces = new AtomicInteger();
        Thread second = new Thread(() -> {
            pack.force();
            pack.nameIsDurable();
            first.nameIsDurable();
        });
        hooked.hook = (call, name) -> {
            if (call == Call.FORCE && forces.getAndIncrement() == 0) {
                second.start();
                while (second.getState() != Thread.State.BLOCKED && second.isAlive()) {
                    Thread.onSpinWait();
                }
                throw brokenDisk();
            }
        };
        pack.force();
        second.join();
        assertTrue(first.frames().isFailed());
        assertTrue(first.frames().isLost(0));
        assertNull(first.unrecorded());
    }

    @Test
    void aFullDiskMakesAllWaitAndAllGoOn() throws IOException {
        OpenContainer sealed = complete(1, 1);
        compressAll();
        makeDurable(sealed);
        OpenContainer first = complete(2, 2);
        OpenContainer second = container(3);
        append(second, 1);
        hooked.fail(Call.APPEND, fullDisk());
        compressAll();
        sealed.frames().throwIfShort();
        for (OpenContainer each : List.of(first, second)) {
            assertThrows(NoSpaceException.class, each.frames()::throwIfShort);
            assertThrows(NoSpaceException.class, () -> append(each, 1));
            each.frames().awaitWritten();
        }
        pack.retry();
        assertThrows(NoSpaceException.class, second.frames()::throwIfShort);
        hooked.pass();
        pack.retry();
        first.frames().throwIfShort();
        second.frames().throwIfShort();
        second.frames().awaitWritten();
        second.end();
        makeDurable(first, second);
        assertSealed(first, 2);
        assertSealed(second, 1);
        assertEquals(
                PackFormat.align(place(first).offset() + first.fileBytes()),
                place(second).offset());
    }

    /** Its frames are not written before the space is there: a thread must not wait for them. */
    @Test
    void aContainerThatIsAddedDuringAShortageWaitsForItsEnd() throws IOException {
        OpenContainer first = complete(1, 1);
        hooked.fail(Call.APPEND, fullDisk());
        compressAll();
        assertThrows(NoSpaceException.class, first.frames()::throwIfShort);
        OpenContainer second = container(2);
        assertThrows(NoSpaceException.class, second.frames()::throwIfShort);
        second.frames().awaitWritten();
        hooked.pass();
        pack.retry();
        second.frames().throwIfShort();
        append(second, 1);
        compressAll();
        second.frames().awaitWritten();
        assertEquals(1, second.frames().table().frames());
        budget.awaitRoom();
    }

    @Test
    void aContainerThatIsAddedToAFailedPackFailsAtOnce() throws IOException {
        OpenContainer first = complete(1, 1);
        hooked.fail(Call.APPEND, brokenDisk());
        compressAll();
        hooked.pass();
        assertTrue(first.frames().isFailed());
        OpenContainer second = container(2);
        assertTrue(second.frames().isFailed());
        assertThrows(IOException.class, () -> append(second, 1));
        Pack fresh = Pack.create(hooked, NUMBER + 1);
        assertTrue(second.revive(fresh));
        assertTrue(second.isEmpty());
    }

    @Test
    void aShortageDuringAFailureDoesNotCountAgainstTheBudget() throws IOException {
        OpenContainer first = complete(1, 1);
        hooked.fail(Call.APPEND, fullDisk());
        compressAll();
        hooked.fail(Call.APPEND, brokenDisk());
        pack.retry();
        assertTrue(first.frames().isFailed());
        first.frames().throwIfShort();
        hooked.pass();
        Pack fresh = Pack.create(hooked, NUMBER + 1);
        assertTrue(first.revive(fresh));
        fresh.force();
        first.nameIsDurable();
        assertSealed(first, 1);
        assertTrue(budget.tryAdd(1 << 20), "all memory was returned");
    }

    @Test
    void aPackAcceptsIdsUpToItsNumberUntilItIsFullOrRetired() throws IOException {
        assertTrue(pack.accepts(NUMBER));
        assertFalse(pack.accepts(NUMBER + 1));
        ByteBuffer zeros = ByteBuffer.allocate(32 << 20);
        pack.lock().lock();
        try {
            while (pack.position() < Pack.FULL_BYTES) {
                assertTrue(pack.accepts(1));
                pack.append(zeros.clear());
            }
        } finally {
            pack.lock().unlock();
        }
        assertFalse(pack.accepts(1));
        Pack other = Pack.create(hooked, NUMBER + 1);
        assertTrue(other.accepts(1));
        other.retire();
        assertFalse(other.accepts(1));
        assertTrue(other.isClosed());
    }

    @Test
    void aRetiredPackIsClosedAndTrimmedAfterItsLastContainer() throws IOException {
        OpenContainer first = complete(1, 1);
        OpenContainer second = complete(2, 1);
        compressAll();
        pack.retire();
        makeDurable(first, second);
        String name = PackFormat.fileName(NUMBER);
        assertTrue(disk.reservedBytes(name) > 0);
        pack.remove(first);
        assertFalse(pack.isClosed());
        pack.remove(second);
        assertTrue(pack.isClosed());
        assertEquals(0, disk.reservedBytes(name));
    }

    @Test
    void aPackWhoseHeaderCannotBeWrittenLeavesNoFile() throws IOException {
        hooked.fail(Call.APPEND, fullDisk());
        assertThrows(NoSpaceException.class, () -> Pack.create(hooked, NUMBER + 1));
        assertEquals(List.of(PackFormat.fileName(NUMBER)), disk.list());
    }

    @Test
    void aNameInDoubtSuspendsTheContainersOnlyIfItWasNotDurable() throws IOException {
        OpenContainer first = complete(1, 1);
        compressAll();
        pack.force();
        pack.nameIsInDoubt(brokenDisk());
        first.nameIsDurable();
        assertTrue(first.frames().isLost(0));
        assertNull(first.unrecorded());

        Pack named = Pack.create(hooked, NUMBER + 1);
        assertTrue(first.revive(named));
        named.nameIsInDoubt(brokenDisk());
        assertFalse(first.frames().isFailed());
    }
}
