package org.opendedup.sar.restore.frame;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.common.ByteGauge;

class SlabsTest {
    private static final long MAX_BYTES = 256 << 20;

    private final ByteGauge memory = new ByteGauge();
    private final Slabs slabs = new Slabs(memory, MAX_BYTES);

    private Slabs.Slot take(int bytes) {
        Slabs.Slot slot = slabs.take(bytes);
        assertNotNull(slot);
        return slot;
    }

    @Test
    void aRoomIsUsedAgainWhenItsLastUserHasLeftAndNotBefore() {
        Slabs.Slot first = take(1000);
        Slabs.Slot second = take(1000);
        assertSame(first.bytes(), second.bytes());
        first.join();
        first.leave();
        // The control: one user is left.
        Slabs.Slot third = take(1000);
        assertNotEquals(first.offset(), third.offset());
        first.leave();
        Slabs.Slot again = take(1000);
        assertSame(first.bytes(), again.bytes());
        assertEquals(first.offset(), again.offset());
        assertEquals(Slabs.SLAB_BYTES, memory.bytes());
        second.leave();
        third.leave();
        again.leave();
        assertEquals(0, memory.bytes());
    }

    @Test
    void slotsOfEachSizeAreLargeEnoughAndDoNotOverlap() {
        for (int bytes = 1; bytes <= Slabs.MAX_BYTES; bytes += bytes < 5000 ? 1 : 997) {
            Slabs.Slot one = take(bytes);
            Slabs.Slot other = take(bytes);
            assertTrue(one.offset() + bytes <= Slabs.SLAB_BYTES, bytes + " bytes");
            assertTrue(Math.abs(one.offset() - other.offset()) >= bytes, bytes + " bytes");
            one.leave();
            other.leave();
        }
        assertEquals(0, memory.bytes());
    }

    @Test
    void trimGivesBackWhatNobodyNeededSinceTheLastTime() {
        List<Slabs.Slot> slots = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            slots.add(take(Slabs.MAX_BYTES));
        }
        slots.forEach(Slabs.Slot::leave);
        slabs.trim();
        assertEquals(10, slabs.freeSlabs());
        take(1);
        slabs.trim();
        assertEquals(0, slabs.freeSlabs());
    }

    /** Chunks that are too large for slabs have arrays of their own. */
    @Test
    void freeArraysGiveWayToWhatIsUsed() {
        Slabs few = new Slabs(memory, 10L * Slabs.SLAB_BYTES);
        List<Slabs.Slot> slots = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            slots.add(few.take(Slabs.MAX_BYTES));
        }
        slots.forEach(Slabs.Slot::leave);
        assertEquals(10, few.freeSlabs());
        assertNotNull(few.array(4 * Slabs.SLAB_BYTES));
        assertEquals(6, few.freeSlabs());
        for (int i = 0; i < 6; i++) {
            assertNotNull(few.array(Slabs.SLAB_BYTES));
        }
        assertEquals(0, few.freeSlabs());
        few.trim();
        few.trim();
    }

    /** The bytes of a user stay until it leaves, whatever others do. */
    @Test
    void nobodyWritesToWhatAnotherUses() {
        Random random = new Random(TestSeed.next());
        record User(Slabs.Slot slot, byte[] written) {
            boolean seesHisOwn() {
                int from = slot.offset();
                return Arrays.equals(written, 0, written.length, slot.bytes(), from, from + written.length);
            }
        }
        List<User> users = new ArrayList<>();
        long written = 0;
        for (int i = 0; i < 20_000; i++) {
            if (users.isEmpty() || random.nextInt(100) < 52 - users.size() / 40) {
                byte[] bytes = new byte[1 + random.nextInt(Slabs.MAX_BYTES / 16)];
                random.nextBytes(bytes);
                Slabs.Slot slot = take(bytes.length);
                System.arraycopy(bytes, 0, slot.bytes(), slot.offset(), bytes.length);
                users.add(new User(slot, bytes));
                written += bytes.length;
            } else {
                User leaving = users.remove(random.nextInt(users.size()));
                assertTrue(leaving.seesHisOwn());
                leaving.slot.leave();
            }
        }
        // The control: arrays were reused.
        assertTrue(memory.mostBytes() < written / 4, memory.mostBytes() + " bytes for " + written);
        users.forEach(user -> assertTrue(user.seesHisOwn()));
        users.forEach(user -> user.slot.leave());
        assertEquals(0, memory.bytes());
    }
}
