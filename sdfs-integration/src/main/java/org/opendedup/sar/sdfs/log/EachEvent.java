package org.opendedup.sar.sdfs.log;

import org.slf4j.Marker;
import org.slf4j.MarkerFactory;

/**
 * Marks events that the log shows one by one, in any number: a list that a user requested, such as the files that a
 * restore leaves out. Only for events of a command that names its objects; never for events of requests to the mount.
 */
public final class EachEvent {
    public static final Marker MARKER = MarkerFactory.getMarker("EACH");

    private EachEvent() {}
}
