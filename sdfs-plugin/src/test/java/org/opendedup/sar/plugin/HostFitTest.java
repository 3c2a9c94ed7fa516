package org.opendedup.sar.plugin;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.opendedup.collections.InsertRecord;
import org.opendedup.sdfs.filestore.ChunkData;
import org.opendedup.sdfs.notification.SDFSEvent;

/** What the plugin says to versions of SDFS with other methods. */
class HostFitTest {
    /** As in SDFS's release 3.12.0. */
    interface ReleasedStore {
        String getName();

        long writeChunk(byte[] hash, byte[] chunk, int len, String uuid);
    }

    /** As in SDFS's release 3.12.0. */
    public static class ReleasedRecord {
        public ReleasedRecord(boolean inserted, long pos) {}

        public byte[] getHashLocs() {
            return new byte[0];
        }
    }

    public static class OtherChunk extends ChunkData {
        public OtherChunk(byte[] hash) {
            super(hash, 0);
        }
    }

    public static class OtherEvent {
        public void setMaxCount(int ct) {}
    }

    @Test
    void theVersionThatThePluginIsMadeForFits() {
        assertDoesNotThrow(() -> HostFit.require(SarChunkStore.class, SarHashesMap.class));
        assertNull(HostFit.lack(InsertRecord.class, ChunkData.class, SDFSEvent.class));
    }

    @Test
    void aStoreThatIsCalledInAnotherWayDoesNotFit() {
        assertEquals(
                "long writeChunk(byte[], byte[], int, String) of " + ReleasedStore.class.getName(),
                HostFit.lack(SarChunkStore.class, ReleasedStore.class));
    }

    @Test
    void classesWithOtherMembersDoNotFit() {
        assertEquals(
                ReleasedRecord.class.getName() + ".<init>(boolean,long,int)",
                HostFit.lack(ReleasedRecord.class, ChunkData.class, SDFSEvent.class));
        assertEquals(
                OtherChunk.class.getName() + ".<init>([B,long)",
                HostFit.lack(InsertRecord.class, OtherChunk.class, SDFSEvent.class));
        assertEquals(
                "void setMaxCount(long) of " + OtherEvent.class.getName(),
                HostFit.lack(InsertRecord.class, ChunkData.class, OtherEvent.class));
    }
}
