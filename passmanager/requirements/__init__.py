"""What a pass needs, keeps and is anchored on."""
