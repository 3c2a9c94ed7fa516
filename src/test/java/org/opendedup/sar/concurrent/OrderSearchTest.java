package org.opendedup.sar.concurrent;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.model.ModelFileSystem;
import org.opendedup.sar.model.Modes;
import org.opendedup.sar.volume.posix.Owner;
import org.opendedup.sar.volume.posix.SetMode;

class OrderSearchTest {
    private static final Owner OWNER = new Owner(1, 2);
    private static final String ATTRIBUTE = "user.1";

    /**
     * If a round has several orders, the next round begins with the state shown at its end: with the state of another
     * order, a result of the next round would seem wrong.
     */
    @ParameterizedTest
    @ValueSource(ints = {Modes.REGULAR, Modes.DIRECTORY, Modes.SYMBOLIC_LINK})
    void ofTwoOrdersTheOneThatIsShownIsFound(int type) throws IOException {
        ModelFileSystem start = new ModelFileSystem();
        byte[] name = "a".getBytes(ISO_8859_1);
        long inode = (type == Modes.REGULAR
                        ? start.makeNode(Inode.ROOT, name, Modes.REGULAR | 0644, 0, OWNER)
                        : type == Modes.DIRECTORY
                                ? start.makeDirectory(Inode.ROOT, name, 0755, OWNER)
                                : start.makeSymbolicLink(Inode.ROOT, name, name, OWNER))
                .inode();
        start.setExtendedAttribute(inode, ATTRIBUTE.getBytes(ISO_8859_1), name, SetMode.CREATE);
        Call set = new Call.SetAttribute(inode, ATTRIBUTE, "new", SetMode.CREATE_OR_REPLACE);
        Call remove = new Call.RemoveAttribute(inode, ATTRIBUTE);
        List<Event> atOnce =
                List.of(new Event(1, set, 1, 4, Answer.of("set")), new Event(2, remove, 2, 3, Answer.of("removed")));

        assertFinds(start, atOnce, List.of(set, remove));
        assertFinds(start, atOnce, List.of(remove, set));
    }

    private static void assertFinds(ModelFileSystem start, List<Event> events, List<Call> inThisOrder)
            throws IOException {
        ModelFileSystem end = start.copy();
        for (Call call : inThisOrder) {
            new Caller(end).call(call);
        }
        List<String> shown = Trial.show(end);
        OrderSearch search = new OrderSearch(events, state -> Trial.shows(state, shown));
        assertEquals(end.describe(), search.from(start).orElseThrow().describe());
    }
}
